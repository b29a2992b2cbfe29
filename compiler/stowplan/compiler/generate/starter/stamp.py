"""The last line of a CI file that `stowplan init` writes: by it, later versions know which text the file began as.

A person may edit the file and leave the line, which then still says what was edited.
"""

import re
from hashlib import sha256

_LINE = re.compile(r"# stowplan init: sha256:([0-9a-f]{64})\n\Z")
_OF_0_1_0 = frozenset(
    {
        "8d5ebf7dc2860c5a7e20d1dce319c06257d21b9a57ce95e64399e4d78a8cf493",  # .github/workflows/stowplan.yaml
        "97639fd047dcb863dbc8e0234aec94acedf8b2edab5cd2fa1717fd628b8fcd31",  # .gitlab-ci.yml
        "276e574d84049ebb1e549ad906504253e6f0c5968919b1bbcaf9b1eb878b4f9a",  # .pre-commit-config.yaml
        "d5f30306ae29e5efab823a3a9508da09a4d9f7538a16240dc649c8d1e5967437",  # .github/CODEOWNERS
        "fa4bd63fa445e0b83e3d4f9ea77ceb49cc2566b5b3cd9e12a8cbe6401c8990ac",  # .gitattributes
    }
)
"""SHA-256 of the files that version 0.1.0 wrote, without such a line."""


def stamped(text: str) -> str:
    """Return `text`, which ends in a newline, with its stamp as the last line: a comment in YAML, shell and others."""
    return f"{text}# stowplan init: sha256:{_digest(text)}\n"


def line_of(text: str) -> str:
    """Return the stamp at the end of `text`, without its newline; empty if there is none."""
    found = _LINE.search(text)
    return found[0].rstrip("\n") if found else ""


def is_as_written(text: str) -> bool:
    """Whether a file with this text is as a version of `stowplan init` wrote it: nobody edited it since."""
    return stamped(_LINE.sub("", text)) == text or _digest(text) in _OF_0_1_0


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
