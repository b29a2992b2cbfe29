"""Translation of the error output of Git into failures. It runs in the C locale."""

import re

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.schema.agents.exit_codes import ExitCode

LONGEST = 1500
"""Maximum number of characters of a program's output that a message quotes."""

_NO_ACCESS = (
    r"Authentication failed|could not read (Username|Password)|(returned error:|HTTP) 40[13]|Authorization error"
    r"|Authentication required|credentials for|requires? authentication|Access denied|Forbidden|(code|response) 407"
)
_PASSING = (
    r"Could not resolve|Failed to connect|Connection (reset|refused|timed out)|EOF|RPC failed|hung up|timed out"
    r"|Operation too slow|(returned error:|HTTP) (429|5\d\d)|SSL|gnutls|certificate|Server error|rate limit"
)
_MEANINGS: tuple[tuple[str, ExitCode, str], ...] = (
    (r"No space left on device|Disk quota exceeded", ExitCode.CONFLICT, "NoSpace"),
    (r"Read-only file system", ExitCode.CONFLICT, "ReadOnly"),
    (r"fsck error|error in packed object|invalid path '", ExitCode.CONFLICT, "UnsafeObjects"),
    (r"would be overwritten by checkout", ExitCode.CONFLICT, "Dirty"),
    (_NO_ACCESS, ExitCode.AUTH, "AccessDenied"),
    (r"not our ref|unadvertised object|couldn't find remote ref", ExitCode.NOT_FOUND, "NoSuchRef"),
    (r"repository '.*' not found|(returned error:|HTTP) 404", ExitCode.NOT_FOUND, "NotFound"),
    (r"transport '.*' not allowed", ExitCode.CONFLICT, "Protocol"),
    (r"Permission denied|Operation not permitted", ExitCode.CONFLICT, "NoAccess"),
    (r"pack is corrupted|inflate|SHA1 mismatch|invalid index-pack", ExitCode.INTEGRITY, "Corrupt"),
    (_PASSING, ExitCode.TRANSIENT, "RequestFailed"),
)
"""Pattern of the output, exit code and reason of a failure. The first pattern that matches counts."""

_ADVICE = {
    "AccessDenied": "is there a token, may it do this, and is there such a repository?",
    "Dirty": "files of the destination were made or edited there, and are left as they are",
}


def of_output(what: str, output: str, redact: Redactor) -> AttemptError:
    """Return the failure for the error output of a program. Its message begins with `what`, and has no secrets."""
    said = redact(_said(output))[-LONGEST:]
    for pattern, code, reason in _MEANINGS:
        if re.search(pattern, said, re.IGNORECASE):
            advice = f" ({_ADVICE[reason]})" if reason in _ADVICE else ""
            return AttemptError(code, reason, f"{what} failed{advice}: {said}")
    return AttemptError(ExitCode.TRANSIENT, "GitFailed", f"{what} failed: {said or 'nothing was said why'}")


def _said(output: str) -> str:
    """Return the lines of the output, without progress and advice, joined by ` / `."""
    lines = [line.strip() for line in re.split(r"[\r\n]", output)]
    lines_found = [
        line for line in lines if line and not line.startswith(("hint:", "remote: Counting", "remote: Compressing"))
    ]
    return " / ".join(lines_found)
