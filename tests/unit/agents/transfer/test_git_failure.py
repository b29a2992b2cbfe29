"""What Git and Git LFS say when they fail."""

from stowplan.agents.attempt.redaction import MASK, Redactor
from stowplan.agents.transfer.git.failure import LONGEST, of_output

SECRET = "tk/CANARY+0123456789"


def test_long_output_is_cut_between_words() -> None:
    """Half of a secret would not be known any more by whoever takes secrets out."""
    for count in range(LONGEST - 40, LONGEST + 10):
        said = str(of_output("git fetch", f"remote: {SECRET} {'x' * count}\n"))
        assert not any(SECRET[at : at + 6] in Redactor([SECRET])(said) for at in range(len(SECRET) - 5))
    assert MASK in Redactor([SECRET])(str(of_output("git fetch", f"remote: {SECRET} {'x' * 100}\n")))
