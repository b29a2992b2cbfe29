"""The check stage as a whole: clean output passes, findings are placed at the spec, and no object causes a crash."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stowplan.compiler.compiling import reading
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.kubernetes.fields import identity
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.lowering.lower import context_of, lower
from stowplan.compiler.lowering.plain_objects import plain_objects
from stowplan.compiler.lowering.platform_objects import delivered, places
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.library.composition.tree import completed, rendered
from stowplan.library.manifest import Json, Manifest
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.settings import KUBERNETES_VERSIONS
from tests.unit.compiler.checks.given import changed, check, claim, config_map, foreign, job, output, volume

DATASET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: imagenet
  namespace: ml
spec:
  partitions: 2
  source: {uri: "bos://bucket.endpoint/imagenet", secretRef: {name: source}}
  secretRef: {name: volume}
  tolerations: [{key: gpu, operator: Exists}]
"""
OPTIONS = {
    "sync": ", syncOptions: {source: bos://bucket.endpoint/more}",
    "warmup": "",
    "rmr": ", rmrOptions: {paths: [a]}",
    "clear": "",
}
NIGHTLY = ', schedule: "0 3 * * *"'
PLATFORM = "argocd: {repoURL: https://git.example.com/ml/data.git}\nimages: {registry: registry.example.com}\n"
SPEC = SpecId("SampleSet", "ml", "imagenet")


def task(kind: str, more: str = "", *, name: str = "warm") -> str:
    return (
        "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\n"
        f"metadata: {{name: {name}, namespace: ml}}\n"
        f"spec: {{type: {kind}, sampleSetRef: {{name: imagenet}}, secretRef: {{name: source}}{OPTIONS[kind]}{more}}}\n"
    )


def program_of(repo: Path, platform: str = PLATFORM, **files: str) -> Program:
    (repo / "specs").mkdir()
    (repo / "stowplan.yaml").write_text(platform)
    for name, text in {"data": DATASET, **files}.items():
        (repo / "specs" / f"{name}.yaml").write_text(text)
    report = Report()
    checkout = Checkout(Repository(repo))
    program = reading.read(checkout, Target.whole(checkout.platform), (), report).program
    assert not report.failed, report.diagnostics
    return program


def compiled(program: Program) -> list[OutputFile]:
    report = Report()
    units = lower(program.specs, program, context_of(program, "1.0.0"), report)
    assert not report.failed, report.diagnostics
    outputs = output_layout.of_specs(list(map(rendered, units)), program.specs)
    others = delivered(places(outputs), plain_objects(program), program, lambda charts: list(map(completed, charts)))
    return [*outputs, *others]


def checked(
    outputs: list[OutputFile], program: Program, previous: Mapping[ObjectId, Json] | None = None
) -> list[Diagnostic]:
    report = Report()
    check(outputs, program, previous or {}, report)
    return report.diagnostics


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize("names", ["namespaced", "upstream"])
def test_compiled_objects_pass_every_check(tmp_path: Path, version: str, names: str) -> None:
    tasks = {f"{kind}-once": task(kind, name=f"{kind}-once") for kind in OPTIONS}
    tasks |= {f"{kind}-nightly": task(kind, NIGHTLY, name=f"{kind}-nightly") for kind in OPTIONS}
    settings_of = f'kubernetesVersion: "{version}"\nnames: {names}\nnamespaces: {{emit: true}}\n'
    program = program_of(tmp_path, PLATFORM + settings_of, **tasks)
    outputs = compiled(program)
    previous = {identity(each.manifest.body): each.manifest.body for each in outputs}
    assert len(outputs) > 60
    assert checked(outputs, program, previous) == []


def test_root_tasks_of_the_platform_pass(tmp_path: Path) -> None:
    program = program_of(tmp_path, f"{PLATFORM}juicefs: {{taskUser: 0}}\n", task=task("warmup"))
    assert checked(compiled(program), program) == []


def test_a_finding_is_placed_at_the_name_of_its_spec(tmp_path: Path) -> None:
    program = program_of(tmp_path)
    (found,) = checked([output(changed(job(), "spec.backofLimit", 1), spec=SPEC)], program)
    assert str(found.location) == "specs/data.yaml:4:9"
    assert (found.code, found.field_path) == ("SP501", "metadata.name")
    assert found.message.startswith("Job ml/work, spec.backofLimit: ")


def test_a_finding_about_an_object_of_an_extension_names_its_file(tmp_path: Path) -> None:
    program = program_of(tmp_path)
    (found,) = checked([foreign(changed(job(), "spec.backofLimit", 1))], program)
    assert str(found.location) == "extensions/a.py:1:1"


def test_a_finding_about_a_plain_object_is_placed_at_its_field(tmp_path: Path) -> None:
    plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  good: x\n  bad: 3\n"
    program = program_of(tmp_path, f"{PLATFORM}passThrough: [{{kind: ConfigMap}}]\n", plain=plain)
    outputs = [each for each in compiled(program) if each.source == "specs/plain.yaml"]
    (found,) = checked(outputs, program)
    assert str(found.location) == "specs/plain.yaml:6:8"
    assert found.field_path == "data.bad"


def test_a_reference_to_an_unsound_object_is_not_dangling(tmp_path: Path) -> None:
    program = program_of(tmp_path)
    wrong = changed(volume(), "spec.capacty", {})
    found = checked([output(claim(), spec=SPEC), output(wrong, spec=SPEC)], program)
    assert [each.code for each in found] == ["SP501"]


@pytest.mark.parametrize(("policy", "severity"), [("warn", Severity.WARNING), ("error", Severity.ERROR)])
def test_the_policy_sets_the_severity_of_a_removal(tmp_path: Path, policy: str, severity: Severity) -> None:
    program = program_of(tmp_path, f"{PLATFORM}policy: {{removal: {policy}}}\n")
    (found,) = checked([], program, {identity(claim()): claim()})
    assert (found.code, found.severity) == ("SP541", severity)


@pytest.mark.parametrize(("policy", "severity"), [("warn", Severity.WARNING), ("error", Severity.ERROR)])
def test_the_policy_sets_the_severity_of_a_rerun(tmp_path: Path, policy: str, severity: Severity) -> None:
    program = program_of(tmp_path, f"{PLATFORM}policy: {{rerun: {policy}}}\n")
    old, new = (job(f"imagenet-sync-{suffix}") for suffix in ("abcdefg2", "hijklmn3"))
    (found,) = checked([output(new, spec=SPEC, run=True)], program, {identity(old): old})
    assert (found.code, found.severity) == ("SP542", severity)


def test_findings_do_not_depend_on_the_order_of_outputs(tmp_path: Path) -> None:
    program = program_of(tmp_path)
    wrong = [output(changed(each, "status", {}), spec=SPEC) for each in (job(), config_map(), claim(), volume())]
    assert checked(wrong, program) == checked(wrong[::-1], program)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["*", "batch/v1", "Job", "-1", "Prune=confirm", "1Gi"]),
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.dictionaries(st.text(max_size=3), st.none(), max_size=2))),
    st.dictionaries(st.text(max_size=8), st.one_of(st.none(), st.text(max_size=3)), max_size=2),
)


@cache
def real(folder: Path) -> tuple[Program, tuple[OutputFile, ...]]:
    program = program_of(folder, once=task("warmup"), nightly=task("rmr", NIGHTLY, name="nightly"))
    return program, tuple(compiled(program))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("repo")


def mangle(draw: st.DrawFn, node: Any) -> None:
    """Put junk at a random place below `node`."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = draw(st.sampled_from(keys))
        below = node[key]
        if not isinstance(below, dict | list) or not below or draw(st.integers(0, 4)) == 0:
            node[key] = draw(JUNK)
            return
        node = below


@settings(max_examples=60)
@given(data=st.data())
def test_no_object_makes_the_stage_crash(folder: Path, data: st.DataObject) -> None:
    program, outputs = real(folder)

    @st.composite
    def mangled(draw: st.DrawFn) -> Json:
        body = deepcopy(draw(st.sampled_from(outputs)).manifest.body)
        mangle(draw, body)
        return body

    several = st.lists(mangled(), min_size=5, max_size=5)
    new, old = data.draw(several), data.draw(several)
    at = data.draw(st.sampled_from(outputs))
    bodies = [OutputFile(at.path, Manifest(each, at.manifest.stem, at.manifest.run), at.spec, "a") for each in new]
    previous = {identity(each.manifest.body): body for each, body in zip(outputs, cycle(old), strict=False)}
    for diagnostic in checked([*outputs, *bodies], program, previous):
        assert diagnostic.message
        assert diagnostic.hint
