"""Random sources, changes and faults. Whenever an attempt succeeds, the destination holds what the source has.

A source has odd names and sizes. Between the attempts files are replaced, removed and written again, and the source
moves; attempts are killed, run out of space, and meet errors of the server. What is compared comes from `sha256sum` and
from a client of S3 that others wrote.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from resource import RLIM_INFINITY

import pytest

from tests.agents.ended import Ended
from tests.agents.forks import forked
from tests.agents.transfer.agent import Cube, prepared
from tests.agents.transfer.faults import Fault, Proxy, Request, proxied
from tests.agents.transfer.random_copies.ways import Claims, Download, Upload, Way
from tests.agents.transfer.server import Server, new_bucket
from tests.tier import COPIES

PARTS = 5 << 20
SIZES = (0, 1, 4096, 70_000, PARTS - 1, PARTS, PARTS + 1, 2 * PARTS + 7)
NAMES = (
    *("a", "A", "a b", "a+b", "a%20b", "a=b&c", "#x?y", "é", "日本", ".hidden", "~", "-r", "x" * 200, "a'b\"c", "[1]*"),
    *("deep/er/and/deeper", "deep-er", "deep/e", "deep/er/", "z\u00a0z", "$(id)", "tab", "*.png"),
)
TARGET = {"kind": "Dataset", "namespace": "ml", "name": "images"}


@pytest.fixture(scope="session")
def server(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(program, tmp_path_factory.mktemp("random"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def odd_proxy(server: Server) -> Iterator[Proxy]:
    with proxied(server.url) as running:
        yield running


class Case:
    """One source and one destination, of which a number decides everything."""

    def __init__(self, number: int, folder: Path, server: Server, proxy: Proxy) -> None:
        self.chance = random.Random(number)  # noqa: S311 - content of a test
        self.proxy, self.folder = proxy, folder
        self.storage = storage = new_bucket(server.url)
        options = {"target": TARGET, "partSizeMiB": 5, "reportPhase": False, "memoryMiB": 256, "requestRetries": 1}
        self.mirror = self.chance.random() < 0.3
        self.kind = self.chance.choice(["download", "download", "download", "upload", "claims"])
        if self.kind == "download" and self.mirror:
            options |= {"mirror": {"allowEmpty": True}}
        self.cube = Cube(folder, storage, proxy.url, options)
        self.cube.data.mkdir()
        self.way = self._way(server)
        self.names = self.chance.sample([each for each in NAMES if not each.endswith("/")], self.chance.randint(3, 12))
        self.needs_one = self.kind == "download" and not self.mirror
        """True if it is an error that the source lists nothing."""
        self.now: dict[str, bytes] = {}
        self.ever: set[str] = set()

    def _way(self, server: Server) -> Way:
        if self.kind == "download":
            etags = self.chance.choice(["real", "real", "none", "constant"])
            return Download(self.cube, self.storage, server.folder, self.chance, etags)
        return Upload(self.cube, self.storage) if self.kind == "upload" else Claims(self.cube, self.storage)

    def change(self) -> None:
        """Write, replace and remove some files."""
        if self.now and self.chance.random() < 0.2:
            self.way.move()
            self.now = {}
        for name in self.chance.sample(self.names, self.chance.randint(1, len(self.names))):
            if name in self.now and not (self.needs_one and len(self.now) == 1) and self.chance.random() < 0.25:
                self.way.remove(name)
                del self.now[name]
                continue
            weights = [3, 3, 3, 3, 1, 1, 1, 1]
            size = self.chance.choices(SIZES, weights)[0]
            if name in self.now and self.chance.random() < 0.5:
                size = len(self.now[name])
            self.now[name] = self.chance.randbytes(size)
            self.ever.add(name)
            self.way.put(name, self.now[name])

    def damage(self) -> None:
        """Change the destination of a download, as users do: truncate, remove, or add a file."""
        there = sorted(path for path in self.cube.data.rglob("*") if path.is_file())
        if self.kind != "download" or not there or self.chance.random() < 0.6:
            return
        path = self.chance.choice(there)
        match self.chance.choice(["cut", "remove", "add"]):
            case "cut":
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + b"!")
            case "remove":
                path.unlink()
            case "add":
                (self.cube.data / "own").write_bytes(b"own")

    def run(self, *, calm: bool) -> Ended | None:
        """Make an attempt; None if it was killed."""
        limit = RLIM_INFINITY if calm or self.chance.random() < 0.8 else self.chance.randint(1000, PARTS)
        self.proxy.rule = None if calm else self._answer
        given = prepared(self.folder, self.cube.config(*self.way.sides), self.cube.variables())
        with forked("transfer", self.folder, *given, limit) as running:
            kill = None if calm or self.chance.random() < 0.5 else self.chance.uniform(0, 0.5)
            return running.ended(120 if kill is None else kill)

    def _answer(self, request: Request) -> Fault | None:
        if self.chance.random() < 0.9 or request.method == "DELETE":
            return None
        if self.chance.random() < 0.5:
            return Fault(status=self.chance.choice([500, 503]), body=b"<Error><Code>SlowDown</Code></Error>")
        return Fault(cut_after=self.chance.randint(0, 5000))

    def check(self, ended: Ended) -> None:
        """Hold what an attempt has left against the source: it has said that it succeeded."""
        source, there = self.way.source(), self.way.destination()
        assert source.keys() == self.now.keys()
        wrong = {name for name, digest in source.items() if there.get(name) != digest}
        assert not wrong, f"{wrong}\n{ended.output}"
        more = there.keys() - source.keys()
        if self.kind == "download" and self.mirror:
            assert not more, ended.output
        assert more <= self.ever | {"own"}
        if self.kind != "upload":
            assert ended.last["filesUnknown"] == len(more), ended.output


@pytest.mark.parametrize("number", range(COPIES))
def test_random_copies(number: int, tmp_path: Path, server: Server, odd_proxy: Proxy) -> None:
    case = Case(number, tmp_path, server, odd_proxy)
    for _ in range(case.chance.randint(1, 4)):
        case.change()
        case.damage()
        ended = case.run(calm=False)
        if ended is not None and ended.code == 0:
            case.check(ended)
    case.change()
    ended = case.run(calm=True)
    assert ended is not None
    assert ended.code == 0, ended.output
    case.check(ended)
    again = case.run(calm=True)
    assert again is not None
    assert (again.code, again.last["filesUnchanged"]) == (0, len(case.now)), again.output
