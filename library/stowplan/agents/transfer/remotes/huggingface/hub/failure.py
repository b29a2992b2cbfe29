"""Translation of errors of requests to a Hub into failures of the attempt, with advice for people."""

import re
from dataclasses import dataclass

import httpx2
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from stowplan.agents.attempt import failure
from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.transfer.network.retry import ThrottledError
from stowplan.agents.transfer.remotes.huggingface.hub.settings import HuggingFaceSettings
from stowplan.schema.agents.exit_codes import ExitCode

LONGEST_WAIT = 300.0
"""Maximum seconds that a Hub's answer can delay the next try. Its rate limits are for intervals of five minutes."""

_MAY_PASS = frozenset({408, 425, 429, 500, 502, 503, 504})
_CODES = {
    401: (ExitCode.AUTH, "AccessDenied"),
    403: (ExitCode.AUTH, "AccessDenied"),
    404: (ExitCode.NOT_FOUND, "NotFound"),
    409: (ExitCode.TRANSIENT, "Conflict"),
}
_RESET = re.compile(r";\s*t\s*=\s*(\d+)")


class MovedError(AttemptError):
    """The branch got another commit after the upload had read its head."""

    def __init__(self, message: str) -> None:
        super().__init__(ExitCode.TRANSIENT, "Moved", message)


@dataclass(frozen=True)
class Failures:
    """Translation of errors of requests about one repository."""

    settings: HuggingFaceSettings

    def of_any(self, error: Exception, what: str) -> AttemptError | StoppedError:
        """Return the failure for an exception; most messages name the request by `what`.

        Exceptions that come neither from a request nor from the operating system are raised again.
        """
        # An error in a thread of the library arrives as the cause of a plain error.
        if isinstance(error, RuntimeError | ValueError) and isinstance(error.__cause__, Exception):
            return self.of_any(error.__cause__, what)
        if isinstance(error, HfHubHTTPError):
            return self._of_answer(error, what)
        if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
            return AttemptError(ExitCode.TRANSIENT, "RequestFailed", f"{what}: {type(error).__name__}: {error}")
        return failure.of_any(error, what)

    def of_library(self, error: Exception, what: str) -> AttemptError | StoppedError:
        """Return the failure for an exception of huggingface_hub. Unknown exceptions become temporary failures."""
        text = " ".join(str(error).split())
        if isinstance(error, UnicodeDecodeError) or (isinstance(error, ValueError) and "README.md" in text):
            # The library asks the Hub to validate the card before it commits.
            return AttemptError(ExitCode.CONFLICT, "BadCard", f"The Hub does not take this README.md: {text}")
        try:
            return self.of_any(error, what)
        except Exception:
            return AttemptError(ExitCode.TRANSIENT, "RequestFailed", f"{what}: {type(error).__name__}: {text}")

    def _of_answer(self, error: HfHubHTTPError, what: str) -> AttemptError:
        status, said = error.response.status_code, error.server_message or ""
        text = f"{what}: {status} {said}".strip()
        for kind, (code, reason, say) in self._kinds(what, said).items():
            if isinstance(error, kind):
                return AttemptError(code, reason, say)
        if status == 412:
            return MovedError(text)
        if status in _MAY_PASS:
            return ThrottledError(text, _wait(error.response))
        code, reason = _CODES.get(status, (ExitCode.BAD_SPEC if status < 500 else ExitCode.TRANSIENT, "Refused"))
        return AttemptError(code, reason, text)

    def _kinds(self, what: str, said: str) -> dict[type[Exception], tuple[ExitCode, str, str]]:
        """Return (exit code, reason, message) by class of exception. The first class that matches counts.

        `said` is the message of the server.
        """
        return {
            GatedRepoError: (ExitCode.AUTH, "Gated", self._gated(said)),
            DisabledRepoError: (ExitCode.AUTH, "Disabled", f"The Hub has disabled {self.settings.address}"),
            RevisionNotFoundError: (ExitCode.NOT_FOUND, "RevisionNotFound", f"{self.settings.address} has no {what}"),
            RemoteEntryNotFoundError: (ExitCode.NOT_FOUND, "NotFound", f"{self.settings.address} has no file {what}"),
            RepositoryNotFoundError: (ExitCode.NOT_FOUND, "RepositoryNotFound", self._missing()),
        }

    def _gated(self, said: str) -> str:
        """Return the message for a repository whose conditions a person must accept first."""
        address = self.settings.address
        do = (
            f"The token's account has no access: accept the conditions on {address} with it, or wait for approval"
            if self.settings.token is not None
            else f"Accept the conditions on {address}, and give the option `token` of that account"
        )
        return f"{address} is gated. {do}. {said}".rstrip()

    def _missing(self) -> str:
        """Return the message for a repository that does not exist, or that the account may not see."""
        do = (
            "the token may not see it: does it have the right to read this repository?"
            if self.settings.token is not None
            else "it is private: then the option `token` is needed"
        )
        return f"{self.settings.address} is not there (is repo-type right?), or {do}"


def _wait(response: httpx2.Response) -> float:
    """Return the seconds to wait by the header `retry-after` or `ratelimit`; 0 if neither gives a number.

    https://huggingface.co/docs/hub/rate-limits
    """
    after, limit = response.headers.get("retry-after", ""), response.headers.get("ratelimit", "")
    reset = _RESET.search(limit)
    seconds = float(after) if after.isdecimal() else float(reset[1]) if reset and response.status_code == 429 else 0.0
    return min(LONGEST_WAIT, seconds)
