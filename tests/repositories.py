"""The repositories that tests compile: the examples, the cases in `tests/cases`, and those outside of the checkout."""

import re
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from stowplan.compiler.compiling.destinations import destinations
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.model import OutputFile
from stowplan.compiler.pipeline import Compiled, Compiler, Options
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.schema.kinds.table import KINDS

REPOSITORY = Path(__file__).parents[1]
EXAMPLES = {path.parent.name: path.parent for path in sorted(REPOSITORY.glob("examples/*/specs"))}
"""The examples with files of specs; another one is a program."""
TARGETS = {
    f"{name}/{target.name}": target
    for name in EXAMPLES
    for target in destinations(Checkout(Repository(EXAMPLES[name])), REPOSITORY / "no-output", Report())
    if target.name
}
"""The clusters of the examples with environments, by their folders below `out/`."""
OUTPUTS = sorted({*EXAMPLES, *TARGETS} - {name.partition("/")[0] for name in TARGETS})
"""The folders below `out/`, each with an inventory of its own: of examples, or of their clusters."""
CASES = {
    f"{path.parent.name}-{path.stem}": path
    for path in sorted(REPOSITORY.glob("tests/cases/*/*.yaml"))
    if not path.name.endswith(".out.yaml")
}
"""The specs of each valid case. The snapshot of `<case>.yaml` is `<case>.out.yaml`."""
INVALID_CASES = {
    path.stem: path for path in sorted(REPOSITORY.glob("tests/cases_invalid/*/SP*")) if path.suffix != ".txt"
}
"""The file or folder of each invalid case, but for those that `tests/cases_invalid/built.py` makes."""
CORPUS = {path.stem: path.read_text() for path in sorted((REPOSITORY.parent / "shared" / "corpus").glob("*.yaml"))}
"""Real documents of the replaced systems, each by its name. They are no part of this repository."""
PLACEHOLDER = re.compile(r"<([A-Z][A-Z0-9_]*)>")
"""Where users fill in names of their own."""

PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
"""
"""What cases are compiled with that bring no platform of their own as their first document."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a repository compiles to, sorted by path, and what was said of it."""

    outputs: tuple[OutputFile, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> list[Diagnostic]:
        return [found for found in self.diagnostics if found.severity == "error"]


@cache
def example(name: str) -> Result:
    """One of `OUTPUTS` as `synth` compiles it when nothing was committed before.

    The name of an example with environments is that of its specs without any environment.
    """
    report = Report()
    found = synthesised(EXAMPLES[name.partition("/")[0]], REPOSITORY / "no-output", report, TARGETS.get(name))
    return _result(found.outputs, report)


@cache
def case(name: str) -> Result:
    """A case without cdk8s, which changes no object: see `tests/unit/library/constructs`."""
    with TemporaryDirectory() as folder:
        return compiled(Path(folder), {f"{name}.yaml": CASES[name].read_text()})


def corpus() -> dict[str, str]:
    """The files of the corpus whose kinds there are, with names for the placeholders: `<PVC_NAME>` is `pvc-name`."""
    known = {name: text for name, text in CORPUS.items() if yaml.safe_load(text)["kind"] in KINDS}
    return {f"{name}.yaml": PLACEHOLDER.sub(_name, text) for name, text in known.items()}


def _name(placeholder: re.Match[str]) -> str:
    return placeholder[1].lower().replace("_", "-")


def compiled(repo: Path, files: dict[str, str]) -> Result:
    """Files of specs compiled in the empty folder `repo`; see `lay_out`."""
    lay_out(repo, files)
    report = Report()
    return _result(validated(repo, report).outputs, report)


def validated(repo: Path, report: Report, target: Target | None = None) -> Compiled:
    """What `validate` compiles a repository to, or one of its targets; by default it has no environments."""
    checkout = Checkout(Repository(repo))
    return Compiler(checkout, ComposerPool()).validate(target or Target.whole(checkout.platform), report)


def synthesised(repo: Path, out: Path, report: Report, target: Target | None = None) -> Compiled:
    """What `synth` compiles a repository to, or one of its targets; by default it has no environments."""
    checkout = Checkout(Repository(repo))
    with closing(ComposerPool(lasting=False)) as composer:
        compiler = Compiler(checkout, composer)
        return compiler.synth(target or Target.whole(checkout.platform), out, Options(), report)


def lay_out(repo: Path, files: dict[str, str]) -> None:
    """Write files of specs, by path below `specs`, and a platform file into the empty folder `repo`.

    A first document of kind Lock becomes the lock file, and the next one, of kind Platform, the platform file.
    """
    platform = PLATFORM
    for path, text in files.items():
        lock, _, rest = text.partition("\n---\n")
        if "kind: Lock" in lock.splitlines():
            repo.mkdir(parents=True, exist_ok=True)
            (repo / "stowplan.lock").write_text(f"{lock}\n")
            text = rest  # noqa: PLW2901 - what is left of the file
        first, _, rest = text.partition("\n---\n")
        if "kind: Platform" in first.splitlines():
            platform, text = first, rest  # noqa: PLW2901 - what is left of the file
        target = repo / "specs" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (repo / "stowplan.yaml").write_text(platform)


def _result(outputs: tuple[OutputFile, ...], report: Report) -> Result:
    return Result(tuple(sorted(outputs, key=lambda output: output.path)), tuple(report.diagnostics))
