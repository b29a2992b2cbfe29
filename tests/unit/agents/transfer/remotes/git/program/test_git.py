"""Error messages of Git."""

from stowplan.agents.attempt.redaction import MASK, Redactor
from stowplan.agents.transfer.remotes.git.program.git import LONGEST_QUOTE, failure_of

SECRET = "tk/CANARY 0123 456789+"


def test_cut_message_contains_no_part_of_a_secret() -> None:
    """It would not be known any more by whoever takes secrets out."""
    redact = Redactor([SECRET])
    for count in range(LONGEST_QUOTE - 40, LONGEST_QUOTE + 10):
        said = redact(str(failure_of("git fetch", f"remote: {SECRET} {'x' * count}\n", redact)))
        assert not any(SECRET[at : at + 4] in said for at in range(len(SECRET) - 3))
    assert MASK in str(failure_of("git fetch", f"remote: {SECRET} {'x' * 100}\n", redact))
