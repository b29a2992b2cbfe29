"""A server that writes down what it is asked, whole, and that redirects, or refuses all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.cluster.certificates import Pair
from tests.http_server import QuietHandler, serving


@dataclass
class Recorder:
    """What was asked, with all headers, as text.

    It redirects to `location` if there is one; with `asks_first` only those who send credentials.
    """

    url: str = ""
    location: str = ""
    asks_first: bool = False
    challenge: str = 'Basic realm="recorder"'
    seen: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return self.url.partition("://")[2]

    def heard(self, *secrets: str) -> list[str]:
        """Which of the secrets came."""
        return [each for each in secrets if any(each in asked for asked in self.seen)]


@contextmanager
def recording(pair: Pair | None = None, address: str = "127.0.0.1") -> Iterator[Recorder]:
    """Serve a new recorder, with TLS if there is a certificate. It is a proxy too, for plain http."""
    state = Recorder()

    class Handler(QuietHandler):
        """Records, and then redirects or refuses."""

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.seen.append(f"{self.requestline}\n{self.headers}")
            leads = state.location and not (state.asks_first and "Authorization" not in self.headers)
            self.send_response(307 if leads else 401)
            if leads:
                self.send_header("Location", f"{state.location}{self.path}")
            else:
                self.send_header("WWW-Authenticate", state.challenge)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer

    with serving(Handler, pair, address) as state.url:
        yield state
