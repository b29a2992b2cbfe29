"""Apps of one's own: what they write, keep, refuse and say."""

from pathlib import Path
from runpy import run_path
from typing import Any

import jsii
import pytest
import yaml
from cdk8s import ApiObject, Chart, JsonPatch
from constructs import Construct, IValidation
from typer.testing import CliRunner

from stowplan.compiler.app import App, SynthesisError
from stowplan.compiler.cli import app as command_line
from stowplan.compiler.diagnostics.report import Report
from stowplan.library.constructs import Dataset, PaddleJob, SpecError, Training
from tests.repositories import synthesised

PLATFORM = "images: {registry: registry.example.com/ml, tag: '1'}\n"
IMAGE = f"registry.example.com/resnet@sha256:{'0' * 64}"
SPECS = f"""\
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {{name: imagenet, namespace: vision}}
spec:
  source: {{s3: {{uri: s3://bucket/imagenet, secretRef: {{name: store}}}}}}
  volume: {{juicefs: {{secretRef: {{name: volume}}}}}}
  cache: {{nodes: 2}}
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {{name: resnet, namespace: vision}}
spec:
  framework: torch
  image: {IMAGE}
  numNodes: 2
  datasets: [{{name: imagenet, mountPath: /data, wait: {{}}}}]
"""


class Vision(Chart):
    """The specs of `SPECS` as constructs."""

    def __init__(self, scope: Construct, *, nodes: int = 2, caches: int = 2) -> None:
        super().__init__(scope, "vision", namespace="vision")
        self.imagenet = Dataset(
            self,
            "imagenet",
            source={"s3": {"uri": "s3://bucket/imagenet", "secretRef": {"name": "store"}}},
            volume={"juicefs": {"secretRef": {"name": "volume"}}},
            cache={"nodes": caches},
        )
        mounted = [self.imagenet.mount("/data", wait=True)]
        self.resnet = Training(self, "resnet", framework="torch", image=IMAGE, num_nodes=nodes, datasets=mounted)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    (made / "stowplan.yaml").write_text(PLATFORM)
    return made


def output(repo: Path) -> dict[str, str]:
    """The files of the output, without the lines that name the file of the specs."""
    found = {}
    for path in (repo / "out").rglob("*.yaml"):
        lines = (line for line in path.read_text().splitlines() if "Generated" not in line and "/source:" not in line)
        found[path.relative_to(repo / "out").as_posix()] = "\n".join(lines)
    return found


def written(repo: Path, **props: Any) -> dict[str, str]:
    app = App(str(repo))
    Vision(app, **props)
    app.synth()
    return output(repo)


def test_an_app_writes_what_synth_writes_for_the_same_specs(repo: Path) -> None:
    found = written(repo)
    (repo / "specs").mkdir()
    (repo / "specs/vision.yaml").write_text(SPECS)
    report = Report()
    outputs = synthesised(repo, repo / "elsewhere", report).outputs
    assert not report.failed
    assert found.keys() == {each.path for each in outputs}


def test_runs_are_kept_and_what_starts_is_said(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = written(repo)
    assert "starts when synced: Job vision/imagenet-sync-" in capsys.readouterr().err
    assert written(repo) == first
    said = capsys.readouterr().err
    assert "out: 0 created, 0 changed" in said
    assert "starts" not in said
    changed = written(repo, nodes=3)
    assert "starts after Dataset imagenet: Job vision/resnet-training-node-" in capsys.readouterr().err
    job = "vision/dataset-imagenet/job-imagenet-sync.yaml"
    assert changed[job] == first[job]


def test_a_spec_moves_into_a_program_and_back_and_no_run_starts(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "specs").mkdir()
    (repo / "specs/vision.yaml").write_text(SPECS)
    assert CliRunner().invoke(command_line, ["synth", str(repo)]).exit_code == 0
    (repo / "specs/vision.yaml").rename(repo / "vision.yaml")
    written(repo)
    assert "starts" not in capsys.readouterr().err
    (repo / "vision.yaml").rename(repo / "specs/vision.yaml")
    done = CliRunner().invoke(command_line, ["synth", str(repo)])
    assert (done.exit_code, "starts" in done.output) == (0, False), done.output


def test_another_patch_of_a_run_starts_nothing(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = written(repo)["vision/dataset-imagenet/job-imagenet-sync.yaml"]
    vision = Vision(app := App(str(repo)))
    (name,) = (name for kind, name in vision.imagenet.objects if kind == "Job" and "sync" in name)
    vision.imagenet.object("Job", name).add_json_patch(JsonPatch.replace("/spec/backoffLimit", 3))
    capsys.readouterr()
    app.synth()
    assert "starts" not in capsys.readouterr().err
    assert output(repo)["vision/dataset-imagenet/job-imagenet-sync.yaml"] == job


def test_the_command_leaves_the_output_of_a_program_alone(repo: Path) -> None:
    (repo / "main.py").write_text(
        "from cdk8s import Chart\nfrom stowplan.compiler.app import App\n"
        "from stowplan.library.constructs import Dataset\n"
        f"app = App({str(repo)!r})\n"
        "Dataset(Chart(app, 'ml', namespace='ml'), 'c4', volume={'claim': {'name': 'held'}})\napp.synth()\n"
    )
    run_path(str(repo / "main.py"))
    (repo / "specs").mkdir()
    (repo / "specs/vision.yaml").write_text(SPECS)
    refused = CliRunner().invoke(command_line, ["synth", str(repo)])
    assert refused.exit_code == 1
    assert "SP562: The output was written by `python main.py`" in refused.output
    assert (repo / "out/ml/dataset-c4").is_dir()
    (repo / "main.py").unlink()
    assert CliRunner().invoke(command_line, ["synth", str(repo)]).exit_code == 0


def test_a_changed_prop_and_a_changed_part_are_in_the_output(repo: Path) -> None:
    app = App(str(repo))
    vision = Vision(app, caches=3)
    budget = vision.imagenet.object("PodDisruptionBudget", "imagenet-dataset-runtime")
    budget.add_json_patch(JsonPatch.replace("/spec/maxUnavailable", 2))
    vision.imagenet.node.find_child("access").node.try_remove_child("networkpolicy-imagenet-dataset")
    app.synth()
    found = output(repo)
    assert "replicas: 3" in found["vision/dataset-imagenet/statefulset-imagenet-runtime.yaml"]
    assert "maxUnavailable: 2" in found["vision/dataset-imagenet/poddisruptionbudget-imagenet-dataset-runtime.yaml"]
    assert "vision/dataset-imagenet/networkpolicy-imagenet-dataset.yaml" not in found


def test_objects_of_the_user_are_checked_and_written(repo: Path) -> None:
    app = App(str(repo))
    vision = Vision(app)
    mine = ApiObject(vision, "mine", api_version="v1", kind="ConfigMap", metadata={"name": "mine"})
    mine.add_json_patch(JsonPatch.add("/data", {"a": 1}))
    with pytest.raises(SynthesisError, match=r"SP501.*data\.a"):
        app.synth()
    assert not (repo / "out").exists()
    mine.add_json_patch(JsonPatch.replace("/data/a", "b"))
    app.synth()
    assert "a: b" in output(repo)["vision/app-test_app/configmap-mine.yaml"]


POD = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "containers": [{"name": "main", "image": IMAGE}]}
HOST = {**POD, "volumes": [{"name": "root", "hostPath": {"path": "/"}}]}


def test_the_guard_rails_of_the_command_hold(repo: Path) -> None:
    app = App(str(repo))
    PaddleJob(Chart(app, "ml", namespace="ml"), "job", worker={"replicas": 1, "template": {"spec": HOST}})
    with pytest.raises(SynthesisError) as raised:
        app.synth()
    errors = [each for each in raised.value.report.diagnostics if each.severity == "error"]
    assert [(each.code, each.field_path.rpartition("spec.")[2]) for each in errors] == [
        ("SP614", "hostNetwork"),
        ("SP614", "volumes[0].hostPath"),
    ]


def test_a_construct_names_all_that_is_wrong_in_its_spec(repo: Path) -> None:
    wrong = {"containers": [{"name": "main", "image": IMAGE, "command": "python x", "resourcez": {}}]}
    with pytest.raises(SpecError) as raised:
        PaddleJob(App(str(repo)), "job", worker={"replicas": 1, "template": {"spec": wrong}})
    assert [each.path[-1] for each in raised.value.findings] == ["command", "resourcez"]


def test_a_spec_says_its_errors_when_it_is_asked(repo: Path) -> None:
    app = App(str(repo))
    vision = Vision(app)
    assert vision.resnet.node.validate() == []
    vision.imagenet.object("StatefulSet", "imagenet-runtime").add_json_patch(JsonPatch.add("/spec/bogus", 1))
    (problem,) = vision.imagenet.node.validate()
    assert problem.startswith("StatefulSet vision/imagenet-runtime: SP501: spec.bogus: ")


def test_validations_of_the_user_are_asked(repo: Path) -> None:
    @jsii.implements(IValidation)
    class Never:
        def validate(self) -> list[str]:
            return ["not today"]

    vision = Vision(app := App(str(repo)))
    vision.imagenet.node.add_validation(Never())
    with pytest.raises(RuntimeError, match="Validation failed: vision/imagenet: not today"):
        app.synth()
    assert not (repo / "out").exists()


def test_the_platform_is_never_a_silent_default(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match="SP113"):
        App(str(tmp_path))


def test_the_folder_of_specs_takes_no_output(repo: Path) -> None:
    with pytest.raises(ValueError, match="is in or around"):
        App(str(repo), out=str(repo / "specs/out"))


def test_what_an_app_says_of_files_is_no_command_of_ci(repo: Path) -> None:
    (repo / "specs").mkdir()
    (repo / "specs/a.yaml").write_text(SPECS.replace("numNodes: 2", '"##[group]\\e[31m": 2'))
    with pytest.raises(SynthesisError, match="SP201") as raised:
        App(str(repo))
    assert [each for each in ("##[", "\x1b") if each in str(raised.value)] == []


def test_specs_in_files_are_part_of_the_app(repo: Path) -> None:
    (repo / "specs").mkdir()
    (repo / "specs/vision.yaml").write_text(SPECS)
    app = App(str(repo))
    app.spec("Dataset", "vision", "imagenet").object("StatefulSet", "imagenet-runtime").metadata.add_label("a", "b")
    data = {"name": "imagenet", "mountPath": "/data"}
    Training(Chart(app, "more", namespace="vision"), "other", framework="torch", image=IMAGE, datasets=[data])
    app.synth()
    found = output(repo)
    assert "a: b" in found["vision/dataset-imagenet/statefulset-imagenet-runtime.yaml"]
    assert {"vision/training-resnet/training-resnet.yaml", "vision/training-other/training-other.yaml"} <= found.keys()


def test_the_output_names_the_program(repo: Path) -> None:
    written(repo)
    files = sorted((repo / "out").rglob("*.yaml"))
    assert {path.read_text().splitlines()[1] for path in files} == {"# Regenerate: python test_app.py"}


def test_a_check_writes_nothing_and_shows_the_difference(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = App(str(repo))
    Vision(app)
    with pytest.raises(SynthesisError, match="missing: vision/training-resnet/"):
        app.synth(["--check"])
    assert not (repo / "out").exists()
    app.synth()
    Vision(again := App(str(repo)))
    capsys.readouterr()
    again.synth(["--check"])
    assert "out is what the specs compile to." in capsys.readouterr().err
    Vision(other := App(str(repo)), nodes=3)
    with pytest.raises(SynthesisError, match=r"Run `python .*test_app\.py` and commit the result"):
        other.synth(["--check"])


def test_a_check_in_ci_needs_a_base(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SynthesisError, match="SP526"):
        App(str(repo)).synth(["--check"])


def test_a_named_spec_is_compiled_anew(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(repo)
    capsys.readouterr()
    Vision(app := App(str(repo)))
    app.synth(["--recompile", "resnet"])
    assert "0 created, 0 changed" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--recompile", "unknown"], ["--base", "unknown"], ["--bogus"]])
def test_wrong_arguments_end_the_program(arguments: list[str], repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Vision(app := App(str(repo)))
    with pytest.raises(SystemExit) as raised:
        app.synth(arguments)
    assert raised.value.code == 2
    assert arguments[0] in capsys.readouterr().err


JOB = """\
from cdk8s import ApiObject, Chart, JsonPatch
def build(app, program):
    labels = {"stowplan.dev/kind": "Dataset", "stowplan.dev/name": "c4"}
    metadata = {"name": "c4-sync-abc", "labels": labels}
    job = ApiObject(Chart(app, "ml", namespace="ml"), "job", api_version="batch/v1", kind="Job", metadata=metadata)
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}
    job.add_json_patch(JsonPatch.add("/spec", {"template": {"spec": pod}}))
"""
CONSTRUCT = """\
from cdk8s import Chart
from stowplan.library.constructs import Dataset
def build(app, program):
    source = {"s3": {"uri": "s3://bucket/c4", "secretRef": {"name": "store"}}}
    Dataset(Chart(app, "ml", namespace="ml"), "c4", source=source, volume={"claim": {"name": "held"}})
"""


def test_runs_of_constructs_that_0_1_0_knew_as_objects_do_not_start_again_unasked(repo: Path) -> None:
    """Version 0.1.0 took what a construct in an extension compiled to for objects of the extension, of no spec."""

    def synth(*options: str) -> tuple[int, str]:
        done = CliRunner().invoke(command_line, ["synth", str(repo), *options])
        return done.exit_code, done.output

    (repo / "stowplan.yaml").write_text(f"{PLATFORM}extensions: [{{path: one.py}}]\n")
    (repo / "one.py").write_text(JOB)
    assert synth()[0] == 0
    before = output(repo)
    (repo / "one.py").write_text(CONSTRUCT)
    code, said = synth()
    assert (code, output(repo)) == (1, before)
    assert "error SP516: ml/extension-one holds files of an earlier command" in said
    code, said = synth("--recompile", "Dataset ml/c4")
    assert code == 0, said
    assert "starts when synced: Job ml/c4-sync-" in said


def test_patches_of_an_environment_hold_for_constructs(repo: Path) -> None:
    patch = "{target: {kind: Training, name: resnet}, merge: {spec: {numNodes: 4}}}"
    names = f"[{{name: dev}}, {{name: prod, patches: [{patch}]}}]"
    (repo / "stowplan.yaml").write_text(f"{PLATFORM}environments: {names}\n")
    Vision(app := App(str(repo), environment="prod"))
    app.synth()
    job = yaml.safe_load((repo / "out/prod/vision/training-resnet/job-resnet-training-node.yaml").read_text())
    assert job["spec"]["completions"] == 4


TAGGED = "registry.example.com/resnet:1"


DIGEST = f"sha256:{'1' * 64}"
LOCK = "apiVersion: stowplan.dev/v1alpha1\nkind: Lock\nimages:\n" + "".join(
    f"  registry.example.com/ml/stowplan-{name}:1: {{digest: {DIGEST}}}\n"
    for name in ("cache", "control", "git", "transfer")
)


def test_what_has_to_be_pinned_is_asked_of_constructs(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(f"{PLATFORM}policy: {{pins: require}}\n")
    (repo / "stowplan.lock").write_text(LOCK)
    Training(app := App(str(repo)), "resnet", metadata={"namespace": "vision"}, framework="torch", image=TAGGED)
    wanted = r"test_app\.py:\d+:1: error SP902: spec\.image: .* Name the digest or commit in the program"
    with pytest.raises(SynthesisError, match=wanted):
        app.synth()


def test_the_lock_file_holds_for_constructs(repo: Path) -> None:
    (repo / "stowplan.lock").write_text(f"{LOCK}  {TAGGED}: {{digest: {DIGEST}}}\n")
    Training(app := App(str(repo)), "resnet", metadata={"namespace": "vision"}, framework="torch", image=TAGGED)
    app.synth()
    job = yaml.safe_load((repo / "out/vision/training-resnet/job-resnet-training-node.yaml").read_text())
    assert job["spec"]["template"]["spec"]["containers"][0]["image"] == f"{TAGGED}@{DIGEST}"


def test_an_environment_has_to_be_named(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(f"{PLATFORM}environments: [{{name: dev}}, {{name: prod}}]\n")
    with pytest.raises(ValueError, match="environment ''"):
        App(str(repo))
    app = App(str(repo), environment="dev")
    Vision(app)
    app.synth()
    assert (repo / "out/dev/vision/training-resnet/training-resnet.yaml").exists()
