"""Extensions: their allowed changes, and the reports of their failures."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import Location, Mark
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering.extensions import Extensions, extend
from stowplan.compiler.lowering.lower import context_of
from stowplan.compiler.model import Program, Spec
from stowplan.library.composition.tree import rendered
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json, Unit
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from tests.repositories import synthesised
from tests.unit.library.constructs.units import CHECKS, body, seen, unit

EXAMPLE = Path(__file__).parents[4] / "examples" / "extension"
JOB = body("Job", "flowers-sync-abc", spec={"parallelism": 1}, metadata={"labels": {"a": "1"}})
VOLUME = body("PersistentVolume", "vision.flowers", "", spec={"capacity": {"storage": "1Gi"}})
UNIT = unit(JOB, VOLUME)

Run = Callable[..., Extensions]


def program(platform: Platform, specs: tuple[Spec, ...] = ()) -> Program:
    """A program whose platform lists its extensions in lines 11, 12, …"""
    paths: list[Node] = [
        Node({"path": each.path}, Mark(11 + n, 5), Mark(11 + n, 5), {"path": leaf(each.path, 11 + n)})
        for n, each in enumerate(platform.extensions)
    ]
    extensions = Node([each.data for each in paths], Mark(11, 3), Mark(10, 1), paths)
    root = Node({"extensions": extensions.data}, Mark(1, 1), Mark(1, 1), {"extensions": extensions})
    return Program(platform, Document("stowplan.yaml", 0, root), specs)


def leaf(value: str, line: int) -> Node:
    return Node(value, Mark(line, 11), Mark(line, 5))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the texts as the extensions `one.py`, `two.py` of a repository, on `UNIT`."""

    def run(*texts: str, units: tuple[Unit, ...] = (UNIT,), **platform: Any) -> Extensions:
        names = ["one.py", "two.py"][: len(texts)]
        for name, text in zip(names, texts, strict=True):
            (tmp_path / name).write_text(dedent(text))
        given = {"extensions": [{"path": name} for name in names], **platform}
        made = program(Platform.model_validate(given))
        return extend(made, Extensions(units, context_of(made, "1.0.0")), tmp_path, CHECKS)

    return run


def patched(extended: Extensions, *bodies: Json) -> None:
    """Assert that the unit now has these bodies, and that no diagnostic was reported."""
    assert extended.diagnostics == ()
    assert [manifest.body for manifest in extended.units[0].manifests] == seen(unit(*bodies))


def failed(extended: Extensions, code: str, line: int, text: str, units: tuple[Unit, ...] = (UNIT,)) -> None:
    """Assert that the first extension failed at this line with this string in its message, and changed nothing."""
    (diagnostic,) = extended.diagnostics
    assert (diagnostic.code, diagnostic.location) == (code, Location("one.py", line, 1))
    assert text in diagnostic.message
    assert "\n" not in diagnostic.message
    assert diagnostic.hint
    assert (extended.units, extended.additions) == (units, ())


def test_without_extensions_nothing_happens(tmp_path: Path) -> None:
    before = Extensions((UNIT,), context_of(program(Platform()), "1.0.0"))
    assert extend(program(Platform()), before, tmp_path, CHECKS) is before


def test_a_compiled_object_is_patched(run: Run) -> None:
    extended = run("""
        from cdk8s import JsonPatch
        def build(app, program):
            job = app.spec("SampleSet", "vision", "flowers").object("Job", "flowers-sync-abc")
            job.add_json_patch(JsonPatch.replace("/spec/parallelism", 2))
            job.metadata.add_label("b", "2")
            job.metadata.add_annotation("c", "3")
    """)
    metadata = {"labels": {"a": "1", "b": "2"}, "annotations": {"c": "3"}}
    patched(extended, body("Job", "flowers-sync-abc", spec={"parallelism": 2}, metadata=metadata), VOLUME)


def test_a_patched_object_keeps_its_stem_run_and_externals(run: Run) -> None:
    (part,) = UNIT.parts
    own = tuple(replace(each, stem="flowers-sync", run=True) for each in part.own)
    marked = replace(UNIT, parts=(replace(part, own=own),))
    extended = run(
        """
        def build(app, program):
            app.spec("SampleSet", "vision", "flowers").object("Job", "flowers-sync-abc").metadata.add_label("b", "2")
        """,
        units=(marked,),
    )
    assert [(each.stem, each.run) for each in extended.units[0].manifests] == [("flowers-sync", True)] * 2


def test_units_keep_their_order_and_other_units_are_unchanged(run: Run) -> None:
    first, last = (unit(JOB, spec=SpecId("SampleSet", name, "flowers")) for name in ("a", "z"))
    extended = run('def build(app, program): app.spec("SampleSet", "z", "flowers")', units=(last, UNIT, first))
    assert extended.units == (rendered(last), UNIT, first)


def test_objects_are_added(run: Run) -> None:
    extended = run("""
        from cdk8s import ApiObject, Chart
        def build(app, program):
            chart = Chart(app, "mine", namespace="vision", labels={"team": "x"})
            ApiObject(chart, "a", api_version="v1", kind="ConfigMap", metadata={"name": "mine"})
            ApiObject(app.spec("SampleSet", "vision", "flowers"), "b", api_version="batch/v1", kind="Job")
    """)
    assert extended.diagnostics == ()
    assert extended.units == (rendered(UNIT),)
    assert [(each.source, each.manifest.id.kind, each.manifest.namespace) for each in extended.additions] == [
        ("one.py", "Job", "vision"),
        ("one.py", "ConfigMap", "vision"),
    ]
    mine = extended.additions[1].manifest
    assert mine.stem == "mine"
    assert mine.body == body("ConfigMap", "mine", metadata={"labels": {"team": "x"}})


def test_constructs_are_specs_of_the_program(tmp_path: Path) -> None:
    """They have runs that are kept, the images of the platform, and a reporter."""
    (tmp_path / "stowplan.yaml").write_text("images: {registry: registry.example.com}\nextensions: [{path: one.py}]\n")
    (tmp_path / "one.py").write_text(
        dedent("""
            from cdk8s import Chart
            from stowplan.library.constructs import Dataset

            def build(app, program):
                source = {"s3": {"uri": "s3://bucket/c4", "secretRef": {"name": "store"}}}
                Dataset(Chart(app, "ml", namespace="ml"), "c4", source=source, volume={"claim": {"name": "held"}})
        """)
    )
    report = Report()
    compiled = synthesised(tmp_path, tmp_path / "out", report)
    assert not report.failed
    (job,) = (each for each in compiled.outputs if each.manifest.kind == "Job")
    assert job.spec == SpecId("Dataset", "ml", "c4")
    assert job.source == "one.py"
    assert job.manifest.run
    assert job.spec_digest
    image = job.manifest.body["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("registry.example.com/")
    assert [str(each.run) for each in compiled.starts] == [str(job.id)]
    assert "ml/reporter/deployment-stowplan-reporter.yaml" in {each.path for each in compiled.outputs}


def test_errors_of_a_construct_are_at_its_line(run: Run) -> None:
    extended = run("""
        from stowplan.library.constructs import Dataset
        def build(app, program):
            Dataset(app, "c4", volume={"claim": {}})
    """)
    (diagnostic,) = extended.diagnostics
    assert (diagnostic.code, diagnostic.location) == ("SP560", Location("one.py", 4, 1))
    assert "spec.volume.claim" in diagnostic.message


ADDED = """
    from cdk8s import ApiObject, Chart
    def build(app, program):
        chart = Chart(app, "mine"{chart})
        ApiObject(chart, "a", api_version="{version}", kind="{kind}", metadata={{"name": "{name}"}})
"""


def added(
    run: Run, kind: str = "ConfigMap", version: str = "v1", name: str = "a", chart: str = "", **platform: Any
) -> Extensions:
    return run(ADDED.format(kind=kind, version=version, name=name, chart=chart), **platform)


def test_an_object_without_namespace_gets_the_platform_s_default(run: Run) -> None:
    (addition,) = added(run, defaultNamespace="vision").additions
    assert addition.manifest.namespace == "vision"


@pytest.mark.parametrize(("kind", "version"), [("StorageClass", "storage.k8s.io/v1"), ("Namespace", "v1")])
def test_a_cluster_scoped_object_gets_no_namespace(run: Run, kind: str, version: str) -> None:
    (addition,) = added(run, kind, version, chart=', namespace="vision"').additions
    assert "namespace" not in addition.manifest.body["metadata"]


def test_the_platform_lists_other_cluster_scoped_kinds(run: Run) -> None:
    flavor = {"group": "kueue.x-k8s.io", "kind": "ResourceFlavor", "clusterScoped": True}
    entry = [{"path": "one.py", "kinds": [flavor]}]
    (addition,) = added(run, "ResourceFlavor", "kueue.x-k8s.io/v1beta1", extensions=entry).additions
    assert addition.manifest.namespace == ""


@pytest.mark.parametrize("name", ["../../x", "a/b", ".", "-a", ""])
def test_a_name_that_is_no_file_name_is_refused(run: Run, name: str) -> None:
    failed(added(run, name=name), "SP560", 3, repr(name))


def test_a_namespace_that_is_no_label_is_refused(run: Run) -> None:
    failed(added(run, chart=', namespace="../x"'), "SP560", 3, "'../x'")


def test_an_object_whose_kind_was_patched_away_is_refused(run: Run) -> None:
    extended = run("""
        from cdk8s import ApiObject, Chart, JsonPatch
        def build(app, program):
            made = ApiObject(Chart(app, "mine"), "a", api_version="v1", kind="ConfigMap")
            made.add_json_patch(JsonPatch.remove("/kind"))
    """)
    failed(extended, "SP560", 3, "kind None")


def test_extensions_see_the_changes_of_earlier_ones(run: Run) -> None:
    text = """
        from cdk8s import JsonPatch
        def build(app, program):
            job = app.spec("SampleSet", "vision", "flowers").object("Job", "flowers-sync-abc")
            job.add_json_patch(JsonPatch.test("/spec/parallelism", {}), JsonPatch.replace("/spec/parallelism", {}))
    """
    extended = run(text.format(1, 2), text.format(2, 3))
    assert extended.diagnostics == ()
    assert extended.units[0].manifests[0].body["spec"] == {"parallelism": 3}


def test_one_that_fails_does_not_stop_the_next(run: Run) -> None:
    extended = run("def build(app, program): 1 / 0", ADDED.format(kind="Secret", version="v1", name="a", chart=""))
    assert [each.code for each in extended.diagnostics] == ["SP560"]
    assert [each.source for each in extended.additions] == ["two.py"]


DISPLACED = {
    "removed": 'flowers.node.find_child("part").node.try_remove_child("job-flowers-sync-abc")',
    "removed with its spec": 'app.node.try_remove_child("vision.sampleset-flowers")',
    "renamed": 'job.add_json_patch(JsonPatch.replace("/metadata/name", "other"))',
    "moved": 'job.add_json_patch(JsonPatch.replace("/metadata/namespace", "other"))',
    "turned into another kind": 'job.add_json_patch(JsonPatch.replace("/kind", "CronJob"))',
    "emptied": 'job.add_json_patch(JsonPatch.remove("/metadata"))',
}


@pytest.mark.parametrize("change", DISPLACED.values(), ids=DISPLACED)
def test_an_extension_must_not_move_or_remove_a_compiled_object(run: Run, change: str) -> None:
    extended = run(f"""
        from cdk8s import JsonPatch
        def build(app, program):
            flowers = app.spec("SampleSet", "vision", "flowers")
            job = flowers.object("Job", "flowers-sync-abc")
            {change}
    """)
    first = next(each for each in extended.diagnostics if each.code == "SP561")
    assert first.location == Location("one.py", 3, 1)
    assert first.message.startswith("Job vision/flowers-sync-abc of SampleSet vision/flowers is gone.")
    assert extended.units == (UNIT,)


BUILD = """
    import sys
    from cdk8s import Chart, JsonPatch
    def build(app, program):
        {}
"""
SPEC_OBJECTS = 'app.spec("SampleSet", "vision", "flowers")'
JOB_OBJECT = f'{SPEC_OBJECTS}.object("Job", "flowers-sync-abc")'
FAILURES = {
    "an exception": (5, "ValueError: no", BUILD.format("raise ValueError('no')")),
    "an exception in a function below": (
        2,
        "ValueError: no",
        "def no():\n  raise ValueError('no')\nbuild = lambda *_: no()",
    ),
    "an exception while loading": (2, "ZeroDivisionError", "\n1 / 0"),
    "a syntax error": (5, "SyntaxError", BUILD.format("return (")),
    "the end of the process": (5, "SystemExit: 3", BUILD.format("sys.exit(3)")),
    "no build": (1, "no function `build`", "def bild(app, program): pass"),
    "a build of another form": (2, "TypeError: build() takes 1 positional", "\ndef build(app): pass"),
    "an unknown spec": (
        5,
        'Did you mean "SampleSet vision/flowers"?',
        BUILD.format("app.spec('SampleSet', 'vision', 'flower')"),
    ),
    "an unknown object": (5, "has no Job sync", BUILD.format(f"{SPEC_OBJECTS}.object('Job', 'sync')")),
    "a missing module": (1, "No module named 'nowhere'", "import nowhere"),
    "an error in Node": (5, "already a Construct", BUILD.format("Chart(app, 'a'); Chart(app, 'a')")),
    "an error of jsii's types": (5, "TypeError: type of argument id", BUILD.format("Chart(app, 1)")),
    "a patch that does not fit": (
        4,
        "Failed serializing construct",
        BUILD.format(f"{JOB_OBJECT}.add_json_patch(JsonPatch.replace('/a/b/c', 1))"),
    ),
    "a call of synth": (5, "must not call synth()", BUILD.format("app.synth()")),
    "a null byte": (1, "null bytes", "\0"),
}


@pytest.mark.parametrize(("line", "message", "text"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_reported_at_its_line(run: Run, line: int, message: str, text: str) -> None:
    failed(run(text), "SP560", line, message)


def test_a_missing_module_is_answered_with_how_to_share_code(run: Run) -> None:
    (diagnostic,) = run("import nowhere").diagnostics
    assert "installed package" in diagnostic.hint


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "link.py"])
def test_a_path_must_be_inside_the_repository(run: Run, tmp_path: Path, path: str) -> None:
    outside = tmp_path.parent / "outside.py"
    outside.write_text("raise SystemExit")
    (tmp_path / "link.py").symlink_to(outside)
    at_platform(run(extensions=[{"path": path}]), "leads out of the repository")


@pytest.mark.parametrize("path", ["nowhere.py", "folder"])
def test_a_path_must_be_a_file(run: Run, tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    at_platform(run(extensions=[{"path": path}]), "There is no file")


def at_platform(extended: Extensions, text: str) -> None:
    (diagnostic,) = extended.diagnostics
    assert (diagnostic.code, diagnostic.location) == ("SP560", Location("stowplan.yaml", 11, 11))
    assert diagnostic.field_path == "extensions[0].path"
    assert text in diagnostic.message


def test_an_extension_leaves_the_interpreter_and_the_repository_as_they_were(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.delitem(sys.modules, "one_helper", raising=False)
    path = sys.path[:]
    (tmp_path / "one_helper.py").write_text("")
    run("""
        import sys
        from dataclasses import dataclass
        from pathlib import Path
        sys.path.insert(0, str(Path(__file__).parent))
        import one_helper
        @dataclass
        class Settings:
            name: "str" = "a"
        def build(app, program): Settings()
    """)
    assert sys.path == path
    assert not [name for name in sys.modules if name.startswith("stowplan_extension")]
    assert not sys.dont_write_bytecode
    assert {entry.name for entry in tmp_path.iterdir()} == {"one.py", "one_helper.py"}


def test_output_of_an_extension_goes_to_stderr(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run('def build(app, program): print("hello")')
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")


def example() -> tuple[Program, tuple[Unit, ...]]:
    platform = Platform.model_validate(yaml.safe_load((EXAMPLE / "stowplan.yaml").read_text()))
    data = yaml.safe_load((EXAMPLE / "specs" / "librispeech.yaml").read_text())
    model = SampleSet.model_validate(data)
    lowered = lower(model, Context(platform, "0.1.0"))
    document = Document("specs/librispeech.yaml", 0, Node(data, Mark(1, 1), Mark(1, 1)))
    return program(platform, (Spec(lowered.unit.spec, document, model, ""),)), (rendered(lowered.unit),)


def test_the_example_adds_a_quota_and_patches_the_cache_pods(tmp_path: Path) -> None:
    compiled, units = example()
    extended = extend(
        compiled,
        Extensions(units, context_of(compiled, "1.0.0")),
        Path(shutil.copytree(EXAMPLE, tmp_path / "repository")),
        CHECKS,
    )
    assert extended.diagnostics == ()
    assert [(each.source, str(each.manifest.id)) for each in extended.additions] == [
        ("extensions/house_rules.py", "ResourceQuota speech/datasets"),
        ("extensions/house_rules.py", "ConfigMap speech/contact"),
    ]
    changed = [
        after for before, after in zip(units[0].manifests, extended.units[0].manifests, strict=True) if before != after
    ]
    assert [str(each.id) for each in changed] == ["StatefulSet speech/librispeech-runtime"]
    assert changed[0].body["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 120
