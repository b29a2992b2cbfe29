"""Error messages of Git."""

from stowplan.agents.attempt.redaction import MASK, Redactor
from stowplan.agents.transfer.remotes.git.program.failure import LONGEST, of_output

SECRET = "tk/CANARY 0123 456789+"


def test_cut_message_contains_no_part_of_a_secret() -> None:
    """It would not be known any more by whoever takes secrets out."""
    redact = Redactor([SECRET])
    for count in range(LONGEST - 40, LONGEST + 10):
        said = redact(str(of_output("git fetch", f"remote: {SECRET} {'x' * count}\n", redact)))
        assert not any(SECRET[at : at + 4] in said for at in range(len(SECRET) - 3))
    assert MASK in str(of_output("git fetch", f"remote: {SECRET} {'x' * 100}\n", redact))
