"""Client of a Git LFS server. It asks for the URLs of objects, and transfers their content.

Protocol: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md and basic-transfers.md. The program `git-lfs`
follows every address and header in an answer, and bypasses all proxies for addresses of this machine (its
`lfshttp/proxy.go`, by Go's `httpproxy`). So `git-lfs` is not used.
"""

import json
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import json_value
from stowplan.agents.transfer.network.dialing import Routes, SlowError, at_least_speed
from stowplan.agents.transfer.network.hosts import MOST_REDIRECTS, HostOrigin
from stowplan.agents.transfer.network.retry import ThrottledError
from stowplan.agents.transfer.remotes.git.lfs.answers import Action, Answer, answers, quoted
from stowplan.agents.transfer.remotes.git.program.configuration import authorities_of
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.schema.agents.exit_codes import ExitCode

MOST_ANSWER = 4 << 20
"""Maximum size in bytes of an answer about `AT_ONCE` objects."""

AT_ONCE = 100
"""Maximum number of objects per batch request, as in `git-lfs`."""

CONNECT_SECONDS, SILENCE_SECONDS = 10.0, 60.0
LONGEST_WAIT = 300.0
"""Maximum seconds that an answer's header `Retry-After` can delay the next try."""

_JSON = "application/vnd.git-lfs+json"
_CHUNK = 1 << 16
_MAY_PASS = frozenset({408, 425, 429, 500, 502, 503, 504, 509})


class LfsServer:
    """Client for the Git LFS server at one URL. Any thread may use it. It must be closed.

    `environment`, the agent's, may name a file of trusted certificates.
    """

    def __init__(self, git: Git, url: str, environment: Mapping[str, str]) -> None:
        self.git, self._url = git, url.rstrip("/")
        self._settings = git.settings
        context = ssl.create_default_context(cafile=authorities_of(git.settings, environment))
        streams = git.settings.common.config.parallelism
        limits = httpx.Limits(max_connections=streams + 1, max_keepalive_connections=streams + 1)
        network, is_named = git.settings.common.network, git.settings.hosts.is_named
        self._http = httpx.Client(
            transport=Routes(httpx, network, is_named, verify=context, limits=limits),  # type: ignore[arg-type]
            follow_redirects=False,
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None),
            headers={"user-agent": "stowplan", "accept-encoding": "identity"},
        )

    def close(self) -> None:
        self._http.close()

    def batch(self, operation: str, objects: Sequence[tuple[str, int]], ref: str | None) -> dict[str, Answer]:
        """Ask how to transfer objects, and return the answers by digest. The server may leave out objects.

        `operation` is `download` or `upload`, `objects` are (digest, size in bytes), `ref` is the branch of an upload
        as `refs/heads/…`, or None. Raises AttemptError after the last retry.
        """
        asked: dict[str, Any] = {
            "operation": operation,
            "transfers": ["basic"],
            "objects": [{"oid": oid, "size": size} for oid, size in objects],
            "hash_algo": "sha256",
        }
        asked |= {"ref": {"name": ref}} if ref else {}
        body = json.dumps(asked).encode()
        action = Action(f"{self._url}/objects/batch", {"accept": _JSON, "content-type": _JSON}, chunked=False)

        def once() -> dict[str, Answer]:
            with self.asking("POST", action, "The server of Git LFS", [body], len(body)) as response:
                return answers(_limited(response), {oid for oid, _ in objects})

        return self.git.work.attempts.run("git lfs batch", once)

    @contextmanager
    def asking(  # noqa: PLR0917 - what one request is made of
        self,
        method: str,
        action: Action,
        what: str,
        body: Iterable[bytes] = (),
        size: int | None = None,
        begin: int = 0,
    ) -> Iterator[httpx.Response]:
        """Send one request and yield its answer before the body is read.

        `what` is the beginning of error messages. `size` is the size of the body in bytes, None without a body. `body`
        is iterated again for each redirect, so it must not be an iterator. `begin` is the offset of the first wanted
        byte.
        Raises AttemptError for an error of the server, and for connection errors inside of the `with` block.
        """
        try:
            with closing(self._redirected(method, action, what, body, size, begin)) as response:
                if not response.is_success:
                    raise self._refusal(response, what)
                yield response
        except SlowError as error:
            raise AttemptError(ExitCode.TRANSIENT, "Slow", f"{what}: {error}") from None
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            text = f"{what}: {type(error).__name__}: {error}"
            raise AttemptError(ExitCode.TRANSIENT, "RequestFailed", self.git.work.redact(text)) from None

    def _redirected(  # noqa: PLR0917 - as above
        self, method: str, action: Action, what: str, body: Iterable[bytes], size: int | None, begin: int
    ) -> httpx.Response:
        place, headers = action.href, dict(action.headers)
        before: HostOrigin | None = None
        for _ in range(MOST_REDIRECTS + 1):
            # User information in the address is ignored: only the spec's own credentials are sent.
            where = self._settings.hosts.check(place, what)
            if before not in (None, where):
                headers = {name: value for name, value in headers.items() if name in ("accept", "content-type")}
            before = where
            place = _without_user(place)
            sent = {**headers, **({"range": f"bytes={begin}-"} if begin else {})}
            sent |= {} if size is None or action.chunked else {"content-length": str(size)}
            response = self._send(method, place, where, sent, body)
            if not response.has_redirect_location:
                return response
            response.close()
            place = urljoin(place, response.headers["location"])
            if response.status_code == 303:
                method, body, size = "GET", (), None
        message = f"{what} was redirected more than {MOST_REDIRECTS} times"
        raise AttemptError(ExitCode.TRANSIENT, "Redirects", message)

    def _send(
        self, method: str, url: str, where: HostOrigin, headers: dict[str, str], body: Iterable[bytes]
    ) -> httpx.Response:
        """Send one request to a URL whose origin is `where`, and return its answer.

        The credentials of the spec go only to the spec's own host: at once to the Git LFS server, but to other URLs of
        the host only after an answer with status 401.
        """
        credentials = self._settings.credentials if self._settings.hosts.is_own(where) else None
        own = (credentials.username, credentials.password) if credentials and "authorization" not in headers else None
        is_server = url.startswith(f"{self._url}/")
        for auth in (own,) if is_server else (None, own):
            self.git.work.stop.check()
            content = None if method == "GET" else _Body(body)
            request = self._http.build_request(method, url, headers=headers, content=content)
            response = self._http.send(request, stream=True, auth=auth)
            if auth or not own or response.status_code != 401:
                break
            response.close()
        return response

    def _refusal(self, response: httpx.Response, what: str) -> AttemptError:
        """Return the failure for an HTTP error. It quotes only the Git LFS server, as other hosts are not trusted."""
        said = ""
        if str(response.url).startswith(f"{self._url}/") and _is_json(response):
            found = json_value(_limited(response))
            said = str(found.get("message", "")) if isinstance(found, dict) else ""
        status, redact = response.status_code, self.git.work.redact
        text = redact(f"{what}: {status} at {response.url} {quoted(said)}".rstrip())
        if status in (401, 403, 407):
            return AttemptError(ExitCode.AUTH, "AccessDenied", f"{text} (is there a token, and may it do this?)")
        if status in (404, 410):
            return AttemptError(ExitCode.NOT_FOUND, "NotFound", text)
        if status in _MAY_PASS:
            after = response.headers.get("retry-after", "")
            return ThrottledError(text, min(LONGEST_WAIT, float(after) if after.isdecimal() else 0.0))
        if status in (413, 422, 507):
            return AttemptError(ExitCode.CONFLICT, "Refused", text)
        return AttemptError(ExitCode.TRANSIENT, "RequestFailed", text)


class _Body(httpx.SyncByteStream):
    """Request body that can be sent again if `chunks` can be iterated again."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks


def content_of(response: httpx.Response) -> Iterator[bytes]:
    """Yield the body of an answer in pieces. Raises SlowError if the server is slower than the minimum speed."""
    return at_least_speed(response.iter_raw(), _CHUNK)


def _limited(response: httpx.Response) -> bytes:
    """Return the body of an answer. Raises AttemptError (5) if it has more than `MOST_ANSWER` bytes."""
    data = b""
    for chunk in content_of(response):
        data += chunk
        if len(data) > MOST_ANSWER:
            message = f"The server of Git LFS answers with more than {MOST_ANSWER >> 20} MiB"
            raise AttemptError(ExitCode.CONFLICT, "BadAnswer", message)
    return data


def _is_json(response: httpx.Response) -> bool:
    return response.headers.get("content-type", "").partition(";")[0].strip() in (_JSON, "application/json")


def _without_user(url: str) -> str:
    """Return the URL without user and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
