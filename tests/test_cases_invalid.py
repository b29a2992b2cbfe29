"""What users get to see: the whole output of the command for each mistake, as they see it.

A case is `cases_invalid/<hundred>/<code>-<slug>`, where the hundred is that of the code. It is a file `.yaml` that
becomes `specs/<slug>.yaml` of a repository, or a folder that becomes the repository. In a folder, `previous/` holds
specs that are compiled first, `out/` is laid over what came of them, and `command` holds the arguments; without it they
are `validate`. What Git cannot hold is made by `cases_invalid/built.py`. Beside each case lies its snapshot, whose
first line is the exit code.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from stowplan.compiler import pipeline
from stowplan.compiler.compiling import compile_all
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.codes import CATALOGUE
from tests.beside_case import BesideCase
from tests.cases_invalid.built import BUILT
from tests.repositories import INVALID_CASES
from tests.unit.users import run

FOLDER = Path(__file__).with_name("cases_invalid")
PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
"""

HASH = re.compile(
    r"(imagenet-(?:sync|warmup-[0-9])-|-(?:(?:paddle|training|mx)job|training)-(?:[a-z]+-)?|\brun:? )"
    rf"[a-z2-7]{{{HASH_LENGTH}}}\b"
)
"""In the name of a run. It changes with whatever the run is made of, which is no concern of these tests."""

DIGEST = re.compile(r"(?<=digest: )sha256:[0-9a-f]{64}")
"""That of a run, which changes likewise."""


def _command(name: str) -> str:
    if name in BUILT:
        return BUILT[name].command
    command = INVALID_CASES[name] / "command"
    return command.read_text() if command.exists() else "validate ."


def _specs(case: Path) -> list[Path]:
    return [case] if case.is_file() else [path for path in case.glob("specs/**/*") if path.is_file()]


NAMES = sorted([*INVALID_CASES, *BUILT])
SAMPLE = {
    (name[2], path.is_dir()): name
    for name, path in INVALID_CASES.items()
    if _command(name) == "validate ." and _specs(path)
}
"""A case of each hundred in a file, and one in a folder."""
SEVERAL = [
    name
    for name, path in INVALID_CASES.items()
    if name.startswith(("SP5", "SP6")) and sum(each.read_bytes().count(b"\nkind:") for each in _specs(path)) > 1
]
"""Cases of the checks, which look at compiled objects, with several specs."""


class Output(BesideCase):
    """`cases_invalid/<hundred>/<case>.txt`."""

    file_extension = "txt"

    @staticmethod
    def snapshot(case: str) -> Path:
        (hundred,) = FOLDER.glob(f"{case[2]}-*")
        return hundred / f"{case}.txt"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered of a folder that another test had in the same place."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_what_the_snapshot_holds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.chdir(tmp_path)
    with _laid_out(name, tmp_path):
        reported = _run(_command(name))
    assert reported == snapshot(extension_class=Output)
    assert name.partition("-")[0] in _codes(reported)


@pytest.mark.parametrize("name", SAMPLE.values())
def test_a_second_run_prints_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With excerpts of the source, and from what is remembered alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with _laid_out(name, tmp_path):
        reported = _run("validate .")
        monkeypatch.delattr(pipeline.Compiler, "validate")
        assert _run("validate .") == reported


@pytest.mark.parametrize("name", SEVERAL)
def test_specs_that_are_compiled_one_by_one_have_the_same_findings(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The snapshot holds those of specs that are compiled together. Checks compare facts, whoever found them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compile_all, "SIZE", 1)
    with _laid_out(name, tmp_path):
        assert _run(_command(name)) == Output.snapshot(name).read_text()


def test_every_code_has_a_case() -> None:
    reported = {code for name in NAMES for code in _codes(Output.snapshot(name).read_text())}
    assert reported == set(CATALOGUE) - {"SP906"}, "tests/pins has the remotes that SP906 is about"


def test_every_snapshot_has_a_case() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*/*.txt")) == NAMES


def _laid_out(name: str, repo: Path) -> AbstractContextManager[None]:
    """Make the repository of a case in the folder `repo`, which the test is in."""
    (repo / "stowplan.yaml").write_text(PLATFORM)
    if name in BUILT:
        return BUILT[name].made(repo)
    case = INVALID_CASES[name]
    if case.is_file():
        (repo / "specs").mkdir()
        shutil.copy(case, repo / "specs" / f"{name.partition('-')[2]}.yaml")
        return nullcontext()
    _lay_out_folder(case, repo)
    return nullcontext()


def _lay_out_folder(case: Path, repo: Path) -> None:
    shutil.copytree(case, repo, dirs_exist_ok=True, ignore=shutil.ignore_patterns("command", "out", "previous"))
    if (case / "previous").exists():
        if (repo / "specs").exists():
            (repo / "specs").rename(repo / "later")
        shutil.copytree(case / "previous", repo / "specs")
        assert _run("synth .").startswith("exit code 0")
        shutil.rmtree(repo / "specs")
        if (repo / "later").exists():
            (repo / "later").rename(repo / "specs")
    if (case / "out").exists():
        shutil.copytree(case / "out", repo / "out", dirs_exist_ok=True)


def _run(command: str) -> str:
    result = run(*command.split())
    reported = DIGEST.sub("<digest>", HASH.sub(r"\1<hash>", result.output)).replace(version("stowplan"), "<version>")
    return f"exit code {result.exit_code}\n{reported}"


def _codes(reported: str) -> Iterator[str]:
    return (match[1] for match in re.finditer(r": (?:error|warning|info) (SP\d{3}): ", reported))
