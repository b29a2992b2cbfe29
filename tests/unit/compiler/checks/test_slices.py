"""The findings do not depend on how many specs are checked at once."""

import pickle
import shutil
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from stowplan.compiler.checks import spec_stage, stage
from stowplan.compiler.checks.across_specs.facts import Facts, facts_of, graph_of
from stowplan.compiler.checks.across_specs.registry import CHECKS
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.object import Objects, SpecObjects, read
from stowplan.compiler.checks.per_spec import conformance
from stowplan.compiler.checks.spec_stage import Checked
from stowplan.compiler.compiling import reading
from stowplan.compiler.compiling.lookup import Lookup
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.model import Output, Program
from stowplan.compiler.repository.layout import Repository
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform
from tests.repositories import CASES, EXAMPLES, INVALID_CASES, lay_out
from tests.unit.compiler.checks.given import check
from tests.unit.compiler.checks.test_stage import compiled as outputs_of

_CODES = ("SP50", "SP51", "SP52", "SP53", "SP54", "SP55", "SP61")
_REPORTED_EARLIER = "SP504-dataset-name"
INVALID = {name: path for name, path in INVALID_CASES.items() if name.startswith(_CODES) and name != _REPORTED_EARLIER}
GIT = "argocd: {repoURL: https://git.example.com/ml/data.git}\n"


def repositories(name: str, folder: Path) -> Iterator[Path]:
    """Return the repository of a name, and its earlier version if the case has one."""
    for part in ("previous", "specs"):
        repo = folder / part
        if name in CASES:
            lay_out(repo, {"a.yaml": CASES[name].read_text()})
        elif name in EXAMPLES:
            shutil.copytree(EXAMPLES[name], repo)
        elif INVALID[name].suffix == ".yaml":
            lay_out(repo, {"a.yaml": INVALID[name].read_text()})
        else:
            (repo / "specs").mkdir(parents=True)
            lay_out(repo, {})
            (repo / "stowplan.yaml").write_text(f"{(repo / 'stowplan.yaml').read_text()}{GIT}")
            shutil.copytree(INVALID[name], repo, dirs_exist_ok=True)
            if (repo / part).is_dir() and part == "previous":
                shutil.rmtree(repo / "specs")
                (repo / "previous").rename(repo / "specs")
        yield repo


def compiled(repo: Path) -> tuple[Program, list[Output]]:
    """Return a program and its outputs; no outputs if it has errors."""
    report = Report()
    program = reading.read(Repository(repo), report, Lookup("validate")).program
    return program, [] if report.failed else outputs_of(program)


def changed(outputs: Sequence[Output]) -> Mapping[ObjectId, Json]:
    """Objects that an earlier run could have written from other specs, with other runs and volumes."""
    earlier: dict[ObjectId, Json] = {}
    for count, each in enumerate(outputs):
        body, own = deepcopy(each.manifest.body), each.id
        if own.kind in ("Job", "JobSet") and each.manifest.run:
            own = own._replace(name=own.name[:-8] + "a" * 8)
        elif own.kind in ("PersistentVolume", "PersistentVolumeClaim"):
            body["spec"]["accessModes"] = ["ReadWriteOncePod"]
            own = own._replace(name=f"{own.name}-old") if count % 2 else own
        elif each.spec and own.kind == each.spec.kind:
            body["spec"]["added"] = 1
        body["metadata"]["name"] = own.name
        earlier[own] = body
    return earlier


def slices(outputs: Sequence[Output], size: int) -> Iterator[list[Output]]:
    """The outputs of `size` specs at a time."""
    specs: dict[SpecId | None, list[Output]] = {}
    for each in outputs:
        specs.setdefault(each.spec, []).append(each)
    groups = list(specs.values())
    for start in range(0, len(groups), size):
        yield [each for group in groups[start : start + size] for each in group]


def checked_in_slices(
    outputs: Sequence[Output], program: Program, previous: Mapping[ObjectId, Json], size: int
) -> list[Checked]:
    known = spec_stage.definitions(outputs, program.platform.kubernetes_version)
    parts = []
    for some in slices(outputs, size):
        own = {each.id: previous[each.id] for each in some if each.id in previous}
        part: list[Checked] = pickle.loads(pickle.dumps(spec_stage.check(some, program.platform, known, own)))  # noqa: S301
        parts += part
    return parts


def diagnostics(program: Program, parts: Sequence[Checked], previous: Mapping[ObjectId, Json]) -> list[Diagnostic]:
    """The diagnostics of a run that knows only those objects of the last run that are gone."""
    report, graph = Report(), graph_of([part.facts for part in parts], program.platform)
    gone = {known: body for known, body in previous.items() if not graph.exists(known)}
    stage.conclude(parts, program, gone, report)
    return report.diagnostics


@pytest.mark.parametrize("name", [*CASES, *EXAMPLES, *INVALID])
def test_slices_of_any_size_have_the_same_findings(name: str) -> None:
    with TemporaryDirectory() as folder:
        (_, before), (program, outputs) = map(compiled, repositories(name, Path(folder)))
    written = {each.id: each.manifest.body for each in before}
    for previous in ({}, written, changed(outputs)):
        report = Report()
        check(outputs, program, previous, report)
        for size in (1, 3):
            parts = checked_in_slices(outputs, program, previous, size)
            assert diagnostics(program, parts, previous) == report.diagnostics
    # A check leaves facts out if they concern one spec only. All facts together lead to the same findings.
    few = [part.facts for part in checked_in_slices(outputs, program, {}, 1)]
    every = [_facts(some, program.platform) for some in slices(outputs, 1)]
    found, more = ({*_across_specs(facts, program.platform)} for facts in (few, every))
    assert found == more


def test_changes_since_the_last_run_have_findings() -> None:
    """Without findings the comparison of slices would not cover history."""
    codes = set()
    for name in ("imagenet", "datacube", "resnet-gpu"):
        program, outputs = compiled(EXAMPLES[name])
        parts = checked_in_slices(outputs, program, changed(outputs), 1)
        codes |= {each.code for each in diagnostics(program, parts, changed(outputs))}
    assert codes >= {"SP540", "SP541", "SP542"}


def _across_specs(parts: Sequence[Facts], platform: Platform) -> list[ObjectFinding]:
    graph = graph_of(parts, platform)
    return [found for each in CHECKS for found in each.check(graph)]


def _facts(outputs: Sequence[Output], platform: Platform) -> Facts:
    """All facts of a spec's outputs."""
    objects = [read(each) for each in outputs]
    wrong = {found.object for found in conformance.check(objects, platform.kubernetes_version)}
    fit, unfit = ([each for each in objects if (each.id in wrong) is is_wrong] for is_wrong in (False, True))
    return facts_of(SpecObjects(None, Objects(fit), platform), unfit)
