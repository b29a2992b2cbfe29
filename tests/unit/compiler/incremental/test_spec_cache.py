"""A run beside specs that were kept says and makes what a whole run would."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental import spec_cache_file
from stowplan.compiler.incremental.spec_cache import Before, Kept
from stowplan.compiler.lowering.composer_pool import ComposerPool
from stowplan.compiler.output.write import write
from stowplan.compiler.pipeline import Compiled, compile_repository, validate_repository
from tests.fresh_process import append
from tests.repositories import EXAMPLES, lay_out
from tests.unit.edits import EDITS, OTHER_EDITS, SECRET, SET, lay_out_sets_and_jobs, replace, spec


@dataclass
class Repository:
    """A repository, and what the last run that wrote its output left, and one that wrote nothing."""

    root: Path
    memory: ComposerPool
    kept: Kept | None = None
    validated: Kept | None = None

    def run(self, kept: Kept | None = None) -> tuple[Compiled, list[Diagnostic]]:
        report = Report()
        compiled = compile_repository(self.root, self.root / "out", report, memory=self.memory, before=Before(kept))
        return compiled, report.diagnostics

    def write(self) -> None:
        compiled, _ = self.run()
        write(compiled.files, self.root / "out", compiled.committed, Report())
        again, said = self.run()
        assert again.kept, said
        self.kept = again.kept.written("1", self.root / "out")
        self.validated = self.validate()[0].kept
        assert self.validated

    def validate(self, kept: Kept | None = None) -> tuple[Compiled, list[Diagnostic]]:
        report = Report()
        return validate_repository(self.root, report, before=Before(kept)), report.diagnostics

    def compare(self) -> set[str]:
        """Compile beside what was kept, and whole; the specs that were compiled beside it. And validate both ways."""
        part, said = self.run(self.kept)
        whole, told = self.run()
        assert said == told
        assert self._files(part) == self._files(whole)
        assert part.starts == whole.starts
        same(part, whole, said)
        self.compare_validation()
        return {spec.id.name for spec in part.program.specs} if part.program else set()

    def compare_validation(self) -> set[str]:
        """Validate beside what was kept, and whole; the specs that were looked at beside it."""
        part, said = self.validate(self.validated)
        whole, told = self.validate()
        assert said == told
        same(part, whole, said)
        return {spec.id.name for spec in part.program.specs} if part.program else set()

    def _files(self, compiled: Compiled) -> dict[str, tuple[str, bytes]]:
        files = [(file.path, file.line, bytes(file.content or b"")) for file in compiled.files]
        files += [(path, line, b"") for path, line in compiled.committed.unread.items()]
        out = self.root / "out"
        return {path: (line, content or (out / path).read_bytes()) for path, line, content in files}


def same(part: Compiled, whole: Compiled, said: list[Diagnostic]) -> None:
    named = {each.location.file for each in said} & whole.texts.keys()
    assert {file: part.texts[file] for file in named} == {file: whole.texts[file] for file in named}
    assert part.objects == whole.objects
    assert part.kept == whole.kept


@pytest.fixture(scope="module")
def memory() -> Iterator[ComposerPool]:
    with closing(ComposerPool()) as lasting:
        yield lasting


@pytest.fixture
def repository(tmp_path: Path, memory: ComposerPool) -> Repository:
    lay_out_sets_and_jobs(tmp_path)
    made = Repository(tmp_path, memory)
    made.write()
    return made


@pytest.mark.parametrize(
    ("change", "compiled"),
    [
        ("nothing", set()),
        ("job", {"train-a"}),
        ("comment", {"a", "a-warm", "train-a"}),
        ("dataset", {"a", "a-warm", "train-a"}),
        ("removal", set()),
        ("new job", {"train-c"}),
        ("another file", {"train-a"}),
        ("note", set()),
        ("second job", {"other"}),
    ],
)
def test_only_what_an_edit_concerns_is_compiled(repository: Repository, change: str, compiled: set[str]) -> None:
    EDITS[change](repository.root)
    assert repository.compare() == compiled
    assert repository.compare_validation() == compiled


@pytest.mark.parametrize("change", OTHER_EDITS)
def test_an_edit_of_any_other_kind_has_the_same_outcome(repository: Repository, change: str) -> None:
    OTHER_EDITS[change](repository.root)
    repository.compare()


def test_a_byte_order_mark_is_no_part_of_a_text(repository: Repository) -> None:
    path = spec(repository.root, "b-set")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    repository.write()
    replace(spec(repository.root, "a-train"), "train:1", "train:2")
    assert repository.compare() == {"train-a"}


def test_the_platform_may_give_the_namespace_of_one_of_two(repository: Repository) -> None:
    append(repository.root / "stowplan.yaml", "defaultNamespace: ml\n")
    repository.write()
    spec(repository.root, "0").write_text(SET.replace("NAME", "a").replace(", namespace: ml", ""))
    repository.compare()


def test_what_came_between_is_known(repository: Repository) -> None:
    """A plain object that was there before is read again, and may change what others are."""
    spec(repository.root, "plain").write_text(SECRET)
    replace(spec(repository.root, "b-train"), "{name: b, ", "{name: c, ")
    spec(repository.root, "c-set").write_text(SET.replace("NAME", "c"))
    repository.write()
    spec(repository.root, "a-job").unlink()
    assert repository.compare() == set()
    replace(spec(repository.root, "plain"), "name: extra", "name: data")
    repository.compare()


EXTENDED = [name for name, path in EXAMPLES.items() if "\nextensions:" in (path / "stowplan.yaml").read_text()]


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - EXTENDED))
def test_each_file_of_an_example_may_change_or_go(name: str, tmp_path: Path, memory: ComposerPool) -> None:
    shutil.copytree(EXAMPLES[name], tmp_path / name)
    repository = Repository(tmp_path / name, memory)
    repository.write()
    for path in sorted((tmp_path / name / "specs").rglob("*.yaml")):
        text = path.read_text()
        for changed in (f"# A comment\n{text}", text.replace("name: ", "name: x", 1), None):
            path.unlink() if changed is None else path.write_text(changed)
            repository.compare()
        path.write_text(text)


def test_what_is_kept_outlives_the_process(repository: Repository, tmp_path: Path) -> None:
    kept, path = repository.kept, tmp_path / "kept"
    assert kept
    spec_cache_file.write(path, None, kept)
    known = spec_cache_file.read(path)
    assert known
    assert (known.run, known.records, known) == ("1", 1, kept)
    spec(repository.root, "a-train").unlink()
    replace(spec(repository.root, "b-train"), "train:1", "train:2")
    later = repository.run(known)[0].kept
    assert later
    before = path.stat().st_size
    spec_cache_file.write(path, known, later.written("2", repository.root / "out"))
    assert path.stat().st_size < 2 * before
    again = spec_cache_file.read(path)
    assert again
    assert (again.run, again.records, again) == ("2", 2, later.written("2", repository.root / "out"))
    path.write_bytes(path.read_bytes()[:-1])
    assert spec_cache_file.read(path) is None


def test_a_state_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"cos\nmkdir\n(V%b\ntR." % str(tmp_path / "made").encode())
    assert spec_cache_file.read(tmp_path / "kept") is None
    assert not (tmp_path / "made").exists()


def test_two_runs_that_wrote_at_once_leave_nothing(repository: Repository, tmp_path: Path) -> None:
    path, out = tmp_path / "kept", repository.root / "out"
    spec_cache_file.write(path, None, repository.kept or Kept())
    known = spec_cache_file.read(path)
    assert known
    spec_cache_file.write(path, known, known.written("2", out))
    spec_cache_file.write(path, known, known.written("3", out))
    assert spec_cache_file.read(path) is None


@pytest.mark.parametrize("name", EXTENDED)
def test_extensions_have_no_part_in_validation(name: str, tmp_path: Path, memory: ComposerPool) -> None:
    shutil.copytree(EXAMPLES[name], tmp_path / name)
    repository = Repository(tmp_path / name, memory)
    repository.validated = repository.validate()[0].kept
    assert repository.validated
    assert repository.compare_validation() == set()
    for path in sorted((tmp_path / name / "specs").rglob("*.yaml")):
        replace(path, "name: ", "name: x")
        repository.compare_validation()


def test_what_no_spec_makes_may_be_nothing(tmp_path: Path, memory: ComposerPool) -> None:
    lay_out(tmp_path, {"a.yaml": SET.replace("NAME", "a").replace("namespace: ml", "namespace: default")})
    (tmp_path / "stowplan.yaml").write_text("argocd: {crds: external}\nnamespaces: {emit: false}\nreporter: false\n")
    repository = Repository(tmp_path, memory)
    repository.write()
    assert repository.validated
    assert repository.validated.rest
    assert not repository.validated.rest.objects.objects
    spec(repository.root, "b").write_text(SET.replace("NAME", "b"))
    assert repository.compare() == {"b"}


def test_findings_of_the_output_are_none_of_validation(repository: Repository) -> None:
    """A spec that changed what cannot change is said to have done so until it was compiled, and by `synth` alone."""
    replace(spec(repository.root, "a-set"), "partitions: 1", "partitions: 2")
    said = {each.code for each in repository.run(repository.kept)[1]}
    assert said - {each.code for each in repository.validate(repository.validated)[1]}
    repository.compare()


@pytest.mark.parametrize("name", EXTENDED)
def test_nothing_is_kept_of_what_extensions_looked_at(name: str, memory: ComposerPool) -> None:
    report = Report()
    compiled = compile_repository(EXAMPLES[name], EXAMPLES[name] / "no-output", report, memory=memory)
    assert not report.failed
    assert compiled.program
    assert compiled.kept is None
