"""Failures for answers by which a store refuses a request."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.transfer.network.retry import ThrottledError
from stowplan.agents.transfer.remotes.s3.protocol.answers import Document, Response, parsed
from stowplan.schema.agents.exit_codes import ExitCode

LONGEST_WAIT = 60.0
"""Maximum seconds that an answer's header `Retry-After` can delay the next try."""

SHOWN, MESSAGE = 200, 1000
"""Maximum characters that a message quotes: of an error answer that is not from S3, and of an S3 error's message."""

AUTH_CODES = (
    "AccessDenied",
    "AuthorizationHeaderMalformed",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
)
"""S3 error codes that a retry with the same credentials cannot cure. Some come with status 400."""

REFUSED_CODES = ("BadRequest", "InvalidArgument", "InvalidRequest", "NotImplemented")
"""S3 error codes of stores that refuse headers that they do not know."""

_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "SecurityTokenExpired", "TokenRefreshRequired")
"""S3 error codes for a session token that was valid. `SecurityTokenExpired` is that of Alibaba Cloud."""

_THROTTLED = frozenset({408, 429, 500, 502, 503, 504})
_THROTTLING_CODES = frozenset({"RequestTimeout", "SlowDown", "InternalError", "OperationAborted", "BadDigest"})

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")


def refusal(response: Response, what: str, redact: Redactor) -> AttemptError:
    """Return the failure for an answer with status 300 or above. `what` is the beginning of its message."""
    status, (code, message) = response.status_code, error_of(response.content, redact)
    text = f"{what}: {status} {code} {message}".strip()
    if failure := _of_code(code, text, response):
        return failure
    if status in _THROTTLED or code in _THROTTLING_CODES:
        return ThrottledError(text, _retry_after(response.headers.get("retry-after", "")))
    if status in (401, 403) or code in AUTH_CODES:
        return AttemptError(ExitCode.AUTH, "AccessDenied", text)
    if status == 404:
        return AttemptError(ExitCode.NOT_FOUND, code or "NotFound", text)
    region = response.headers.get("x-amz-bucket-region", "")
    if 300 <= status < 400 or (status == 400 and region and not code):
        hint = f"the bucket is in region {region[:SHOWN]}" if region else "is the region right?"
        pointed = (
            f" The server points to {host[:SHOWN]}, but redirects of a store are not followed"
            if (host := _host(response.headers.get("location", "")))
            else ""
        )
        return AttemptError(ExitCode.BAD_SPEC, "WrongRegion", redact(f"{text}; {hint}{pointed}"))
    permanent = status == 501 or code == "NotImplemented" or code.startswith("Invalid")
    return AttemptError(ExitCode.BAD_SPEC if permanent else ExitCode.TRANSIENT, code or "Refused", text)


def _of_code(code: str, text: str, response: Response) -> AttemptError | None:
    """Return the failure for a code that means the same with any status; None for other codes."""
    if code in _EXPIRED:
        # The next attempt is a new process, which reads the Secret again.
        message = f"{text}; the session token is no longer valid: renew the credentials, with `session-token`"
        return AttemptError(ExitCode.TRANSIENT, "ExpiredCredentials", message)
    if code == "RequestTimeTooSkewed":
        own, its = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"), response.headers.get("date", "unknown")
        message = f"{text}; this machine's time is {own}, and the store's {its[:SHOWN]}: set the clock of the node"
        return AttemptError(ExitCode.TRANSIENT, "ClockSkew", message)
    if code == "InvalidObjectState":
        message = f"{text}; the object is in an archive of the store: restore it first, or leave it out by `exclude`"
        return AttemptError(ExitCode.CONFLICT, "Archived", message)
    return None


def error_of(content: bytes, redact: Redactor) -> tuple[str, str]:
    """Return code and message of an S3 error, without secrets; of another answer an empty code and its beginning."""
    found = parsed(content)
    if found is None or (error := Document(found, "an error")).name != "Error":
        return "", redact(content.decode(errors="replace"))[:SHOWN]
    code = redact(error.text("Code"))
    return code if _CODE.fullmatch(code) else "", redact(error.text("Message"))[:MESSAGE]


def _host(location: str) -> str:
    """Return only the host of a redirect's URL, since the rest may hold signatures; empty if there is no host."""
    try:
        return urlsplit(location).hostname or ""
    except ValueError:
        return ""


def _retry_after(text: str) -> float:
    """Return the seconds to wait by a Retry-After header, which is a number or a date; 0 if missing or invalid."""
    try:
        seconds = float(text) if text.isdecimal() else (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, min(LONGEST_WAIT, seconds))
