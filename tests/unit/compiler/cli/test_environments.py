"""The commands in a repository with environments."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs, before a test changes folder
from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.pipeline import Compiled, Compiler, Options
from stowplan.library.values import names
from tests.hostile.forged_runs import Repository as GitRepository

PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
environments:
- name: dev
  set: {argocd: {crds: external}}
  patches:
  - target: {kind: Training, name: mnist}
    merge: {spec: {numNodes: 1}}
- name: prod
  clusters:
  - {name: prod-a, server: https://a.example.com, labels: {region: eu}}
  - {name: prod-b, server: https://b.example.com}
"""
MANUAL = PLATFORM + "  runs: manual\n"
SPEC = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: mnist, namespace: ml}
spec:
  framework: torch
  image: registry.example.com/ml/mnist:1
  numNodes: 2
  command: [python, train.py]
"""
WAITING = """\
  datasets: [{name: data, mountPath: /data, wait: {}}]
  checkpoints: {claim: {name: checkpoints}, mountPath: /runs}
  outputs:
  - path: /runs/final
    to: {s3: {uri: "s3://models/mnist", endpoint: "https://s3.example.com", secretRef: {name: models}}}
---
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {name: data, namespace: ml}
spec:
  source: {s3: {uri: "s3://images/mnist/", endpoint: "https://s3.example.com", secretRef: {name: images}}}
  volume: {claim: {name: data}}
"""
"""A gate, an output, and the dataset that the gate waits for."""
TARGETS = ["dev", "prod/prod-a", "prod/prod-b"]


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository, which the test is in."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repo"
    (folder / "specs").mkdir(parents=True)
    (folder / "stowplan.yaml").write_text(PLATFORM)
    (folder / "specs/mnist.yaml").write_text(SPEC)
    monkeypatch.chdir(folder)
    return folder


def run(command: str) -> Result:
    return CliRunner().invoke(app, command.split(), catch_exceptions=False)


def synth(*options: str) -> dict[str, Any]:
    result = run(" ".join(("synth --format json", *options)))
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def jobs(place: str) -> list[str]:
    """The names of the Jobs in the output of a target."""
    return [_read(file)["metadata"]["name"] for file in Path("out", place).glob("ml/*/job-*.yaml")]


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text())
    return found


def test_each_cluster_of_each_environment_has_an_output_and_argo_cd_objects_of_its_own() -> None:
    assert list(synth()["environments"]) == TARGETS
    for place, name in zip(TARGETS, ("dev", "prod-prod-a", "prod-prod-b"), strict=True):
        top = Path("out", place)
        assert (top / "_inventory/ml/training-mnist.jsonl").is_file()
        assert _read(next(top.glob("argocd/appproject-*.yaml")))["metadata"]["name"] == f"stowplan-{name}"
        application = _read(top / f"argocd/application-stowplan-{name}-ns-ml.yaml")
        assert application["spec"]["source"]["path"] == f"out/{place}/ml"
        assert _read(top / "argocd/root.yaml")["metadata"]["name"] == f"stowplan-{name}-root"
        assert _read(top / "ml/training-mnist/training-mnist.yaml")["spec"]["numNodes"] == (1 if place == "dev" else 2)
    application = _read(Path("out/prod/prod-a/argocd/application-stowplan-prod-prod-a-ns-ml.yaml"))
    assert application["spec"]["destination"]["server"] == "https://a.example.com"
    labels = application["metadata"]["labels"]
    assert (labels["region"], labels["stowplan.dev/environment"], labels["stowplan.dev/cluster"]) == (
        "eu",
        "prod",
        "prod-a",
    )
    assert run("synth --check").exit_code == 0


STRANGE = ["README.md", "argocd/root.yaml", ".gitattributes", "prod/x.yaml", "prod/prod-c/a/b.yaml", "dev/x.yaml"]


def test_what_lies_beside_the_environments_is_foreign() -> None:
    """Somebody could apply it, or it decides what reviewers see of the others."""
    assert synth()["diagnostics"] == []
    for path in STRANGE:
        Path("out", path).parent.mkdir(parents=True, exist_ok=True)
        Path("out", path).write_text("mine")
    Path("out/link").symlink_to("../specs")
    expected = [
        *("out/.gitattributes", "out/README.md", "out/argocd", "out/dev/x.yaml"),
        *("out/link", "out/prod/prod-c", "out/prod/x.yaml"),
    ]
    # The second one finds nothing changed since.
    for options, severity in (((), "warning"), ((), "warning"), (("--check",), "error")):
        found = synth(*options)["diagnostics"]
        assert [(each["code"], each["severity"], each["file"]) for each in found] == [
            ("SP537", severity, path) for path in expected
        ]
    assert run("synth --env dev --check").exit_code == 1


def test_link_in_the_place_of_an_environment_with_clusters_is_foreign(repo: Path) -> None:
    """Its clusters would be compared with files that are no part of the output."""
    synth()
    Path("out/prod").rename("elsewhere")
    Path("out/prod").symlink_to("../elsewhere")
    found = synth("--check")["diagnostics"]
    assert [(each["code"], each["file"]) for each in found] == [("SP537", "out/prod")]
    assert sorted(path.name for path in Path("out").iterdir()) == ["dev", "prod"]


def test_one_environment_or_cluster_can_be_chosen() -> None:
    assert list(synth("--env", "prod")["environments"]) == TARGETS[1:]
    assert list(synth("--env", "prod/prod-b")["environments"]) == TARGETS[2:]
    assert not Path("out/dev").exists()
    assert "Did you mean" in run("synth --env pord").output
    assert run("validate --env dev").stdout.splitlines()[-1] == "dev: 1 spec in 1 file"


def test_without_environments_none_can_be_chosen(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.partition("environments:")[0])
    assert "has no environments" in run("validate --env dev").output


def test_a_finding_of_some_environments_names_them(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("numNodes: 1", "framework: pytorch"))
    result = run("validate")
    assert re.search(r"stowplan.yaml:8:\d+: error SP204: In dev: ", result.output)
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("numNodes: 2", "numNodes: two"))
    assert "specs/mnist.yaml:7:13: error SP203: Found" in run("validate").output


def test_nothing_is_written_if_one_environment_has_an_error(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("numNodes: 1", "numNodes: 0"))
    assert run("synth").exit_code == 1
    assert not Path("out").exists()


def test_diff_and_explain_say_which_environment_they_are_about(repo: Path) -> None:
    synth()
    (repo / "stowplan.yaml").write_text(PLATFORM.replace("numNodes: 1", "numNodes: 3"))
    assert json.loads(run("diff --format json").stdout)["environments"]["prod/prod-a"]["changes"] == []
    assert run("diff --env dev").stdout.startswith("dev:\nreplaced Job ml/mnist-training-node-")
    told = run("explain out/dev/ml/training-mnist/training-mnist.yaml#/spec/numNodes").stdout
    assert "copied from the patch at stowplan.yaml:8:30 spec.numNodes" in told
    assert "Name one of the environments: dev, prod." in run("explain specs/mnist.yaml:7").output
    assert "completions: 2" in run("explain specs/mnist.yaml:7 --env prod/prod-a").stdout


def test_a_run_of_an_environment_with_manual_runs_starts_once_it_is_named(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(MANUAL)
    told = [each for each in synth()["diagnostics"] if each["code"] == "SP810"]
    assert [each["severity"] for each in told] == ["info"]
    assert jobs("dev")
    assert not jobs("prod/prod-a")
    assert not Path("out/prod/prod-a/ml/training-mnist/training-mnist.yaml").exists()
    entry = re.search(r"\{.*\}", told[0]["hint"])
    assert entry
    first = entry[0].rpartition(" ")[2].rstrip("}")

    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    assert synth()["diagnostics"] == []
    assert jobs("prod/prod-a") == jobs("prod/prod-b") == [f"mnist-training-node-{first}"]

    # An edit starts nothing and ends nothing.
    before = Path("out/prod/prod-a/ml/training-mnist/job-mnist-training-node.yaml").read_bytes()
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("train.py", "better.py"))
    told = [each for each in synth()["diagnostics"] if each["code"] == "SP810"]
    assert f"Its run {first} stays as it is." in told[0]["message"]
    assert Path("out/prod/prod-a/ml/training-mnist/job-mnist-training-node.yaml").read_bytes() == before
    assert run("synth --check").exit_code == 0
    second = re.findall(r"run: ([a-z2-7]{8})", told[0]["hint"])[0]

    # The digest is that of the first run, so another name beside it starts nothing.
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0].replace(first, second)}\n")
    assert run("synth").exit_code == 1
    assert jobs("prod/prod-a") == [f"mnist-training-node-{first}"]
    new = re.search(r"\{.*\}", told[0]["hint"])
    assert new
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {new[0]}\n")
    assert [each["code"] for each in synth()["diagnostics"]] == ["SP542"]
    assert jobs("prod/prod-a") == [f"mnist-training-node-{second}"]

    # What is not named any more is ended, with a warning.
    (repo / "stowplan.yaml").write_text(MANUAL)
    assert [(each["code"], each["severity"]) for each in synth()["diagnostics"]] == [("SP810", "warning")]
    assert not jobs("prod/prod-a")


def test_an_entry_starts_no_other_run_with_the_same_hash(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two specs with one hash are found within a minute; here every hash is the same."""
    monkeypatch.setattr(names, "content_hash", lambda *_: "aaaaaaaa")
    (repo / "stowplan.yaml").write_text(MANUAL)
    entry = re.search(r"\{.*\}", synth()["diagnostics"][0]["hint"])
    assert entry
    assert entry[0].endswith(", run: aaaaaaaa}")
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    assert synth()["diagnostics"] == []
    job = Path("out/prod/prod-a/ml/training-mnist/job-mnist-training-node.yaml")
    reviewed = job.read_bytes()
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("train.py", "evil.py"))
    (told,) = [each for each in synth()["diagnostics"] if each["code"] == "SP810"]
    assert "names another run with these characters" in told["message"]
    assert job.read_bytes() == reviewed
    # Nor does it if its author has committed the output, so that the run seems to be there already.
    for place in ("dev", "prod/prod-a", "prod/prod-b"):
        shutil.rmtree(Path("out") / place)
    (repo / "stowplan.yaml").write_text(PLATFORM)
    synth()
    assert b"evil.py" in job.read_bytes()
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    done = run("synth --check")
    assert done.exit_code == 1
    assert "names another run with these characters" in done.output
    assert "has no run aaaaaaaa" in done.output


def test_an_entry_without_a_digest_stays_what_it_is_and_its_run_goes_on(repo: Path) -> None:
    """As those of before. The message has the entry with the digest, which changes nothing in the output."""
    (repo / "stowplan.yaml").write_text(MANUAL)
    entry = re.search(r"\{.*\}", synth()["diagnostics"][0]["hint"])
    assert entry
    short = re.sub(r"digest: \S+ ", "", entry[0])
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {short}\n")
    for _ in ("the run is written", "and stays"):
        (told,) = synth()["diagnostics"]
        assert (told["code"], told["severity"], entry[0] in told["hint"]) == ("SP816", "warning", True)
    before = jobs("prod/prod-a")
    assert before
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    assert synth()["diagnostics"] == []
    assert jobs("prod/prod-a") == before
    # A change of what may change in place is no other run.
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("spec:\n", "spec:\n  suspend: true\n"))
    assert synth()["diagnostics"] == []
    assert jobs("prod/prod-a") == before


def test_with_a_base_commit_no_entry_without_a_digest_starts_a_run(repo: Path) -> None:
    git = GitRepository(repo)
    git.git("init", "-q")
    (repo / "stowplan.yaml").write_text(MANUAL)
    entry = re.search(r"\{.*\}", synth()["diagnostics"][0]["hint"])
    assert entry
    git.commit("base")
    short = f"{MANUAL}  start:\n  - {re.sub(r'digest: [^ ]+ ', '', entry[0])}\n"
    (repo / "stowplan.yaml").write_text(short)
    synth()
    refused = run("synth --check --base HEAD")
    assert refused.exit_code == 1
    assert "error SP816" in refused.output
    assert "The base commit does not have this run." in refused.output
    git.commit("merged without the check")
    later = run("synth --check --base HEAD")
    assert later.exit_code == 0, later.output
    assert "warning SP816" in later.output


def test_a_run_to_start_that_nobody_has_is_an_error(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(
        MANUAL + "  start: [{kind: Training, namespace: ml, name: mnist, run: abcdefgh}]\n"
    )
    result = run("synth")
    assert "error SP805: Training ml/mnist has no run abcdefgh." in result.output
    assert not Path("out").exists()


def test_a_run_that_waits_to_be_started_takes_its_gate_and_its_outputs_with_it(repo: Path) -> None:
    (repo / "specs/mnist.yaml").write_text(SPEC + WAITING)
    (repo / "stowplan.yaml").write_text(MANUAL)
    told = [each for each in synth()["diagnostics"] if each["code"] == "SP810"]
    gone = {file.name for file in Path("out/dev/ml/training-mnist").iterdir()}
    assert {"job-mnist-training-gate.yaml", "role-mnist-training-gate.yaml", "job-mnist-training-output-0.yaml"} < gone
    assert not Path("out/prod/prod-a/ml/training-mnist").exists()
    assert Path("out/prod/prod-a/ml/dataset-data/dataset-data.yaml").exists()
    entry = re.search(r"\{.*\}", told[0]["hint"])
    assert entry
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    for _ in ("the run starts", "and stays"):
        assert "SP810" not in [each["code"] for each in synth()["diagnostics"]]
        assert {file.name for file in Path("out/prod/prod-a/ml/training-mnist").iterdir()} == gone


def test_recompiling_starts_no_run_that_is_not_named(repo: Path) -> None:
    """Another image of an agent makes another run of an unchanged spec."""
    (repo / "stowplan.yaml").write_text(MANUAL)
    (repo / "specs/mnist.yaml").write_text(SPEC + WAITING)
    first = _entry(synth())
    second = ""

    def start(entry: str) -> None:
        text = f"{MANUAL}  start:\n  - {entry}\n"
        (repo / "stowplan.yaml").write_text(text.replace('tag: "1"', 'tag: "2"') if second else text)

    start(first)
    synth()
    before = _files("prod/prod-a", "training-mnist")
    second = "later"
    start(first)
    told = synth("--recompile", "mnist")
    second = _entry(told)
    assert second != first
    assert _files("prod/prod-a", "training-mnist") == before
    assert "and give `--recompile` again." in _waits(told)["hint"]
    assert run("synth --check").exit_code == 0

    start(second)
    assert "SP810" not in [each["code"] for each in synth("--recompile", "mnist")["diagnostics"]]
    assert _files("prod/prod-a", "training-mnist") != before
    assert "SP810" not in [each["code"] for each in synth()["diagnostics"]]


def _waits(told: dict[str, Any]) -> dict[str, Any]:
    (found,) = [each for each in told["diagnostics"] if each["code"] == "SP810"]
    return dict(found)


def _entry(told: dict[str, Any]) -> str:
    """The entry that starts the run that waits."""
    found = re.search(r"\{.*\}", _waits(told)["hint"])
    assert found
    return found[0]


def _files(place: str, folder: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path("out", place, "ml", folder).rglob("job-*.yaml")}


def test_an_edit_of_the_outputs_of_a_started_run_copies_from_it_again(repo: Path) -> None:
    (repo / "specs/mnist.yaml").write_text(SPEC + WAITING)
    (repo / "stowplan.yaml").write_text(MANUAL)
    told = [each for each in synth()["diagnostics"] if each["code"] == "SP810"]
    entry = re.search(r"\{.*\}", told[0]["hint"])
    assert entry
    started = f"{MANUAL}  start:\n  - {entry[0]}\n"
    (repo / "stowplan.yaml").write_text(started)
    synth()
    before = jobs("prod/prod-a")
    (repo / "stowplan.yaml").write_text(started.replace('tag: "1"', 'tag: "2"'))
    (repo / "specs/mnist.yaml").write_text(SPEC + WAITING.replace("s3://models/mnist", "s3://models/other"))
    assert not {each["code"] for each in synth()["diagnostics"]} & {"SP810", "SP542"}
    after = jobs("prod/prod-a")
    assert [name for name in before if name not in after] == [name for name in before if "-output-" in name]
    # An edit of the job leaves run and outputs as they are.
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("train.py", "better.py") + WAITING)
    assert "SP810" in {each["code"] for each in synth()["diagnostics"]}
    assert sorted(jobs("prod/prod-a")) == sorted(after)


ONE_CLUSTER = PLATFORM.replace("https://b.example.com", "https://a.example.com")


def test_validate_finds_objects_that_two_clusters_write_to_one(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(ONE_CLUSTER)
    told = run("validate").output
    assert "error SP809: prod/prod-a and prod/prod-b write " in told
    assert "error SP809" in run("synth").output
    # Again, when nothing has changed.
    assert run("validate").output == told


def test_validate_finds_runs_to_start_that_nobody_has_once_there_is_output(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(MANUAL)
    entry = re.search(r"\{.*\}", synth()["diagnostics"][0]["hint"])
    assert entry
    started = entry[0].rpartition(" ")[2].rstrip("}")
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0].replace(started, 'abcdefgh')}\n")
    assert f"has no run abcdefgh. The run that is written is {started}." in run("validate").output

    # A run that goes on although its spec has changed may be named; without it in the output, the entry is wrong.
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    synth()
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("train.py", "better.py"))
    assert run("validate").exit_code == 0
    for inventory in Path("out/prod").rglob("*.jsonl"):
        inventory.write_text(inventory.read_text().splitlines()[0] + "\n")
    assert f"error SP805: Training ml/mnist has no run {started}." in run("validate").output


def test_an_error_of_one_environment_does_not_make_runs_to_start_wrong(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(MANUAL)
    entry = re.search(r"\{.*\}", synth()["diagnostics"][0]["hint"])
    assert entry
    (repo / "stowplan.yaml").write_text(f"{MANUAL}  start:\n  - {entry[0]}\n")
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("numNodes: 2", "numNodes: two"))
    for command in ("synth", "validate"):
        told = run(command).output
        assert "error SP203" in told
        assert "SP805" not in told


def test_an_unchanged_synth_compiles_nothing_and_says_the_same(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "stowplan.yaml").write_text(MANUAL)
    first = synth()
    compiled: list[str] = []
    real = Compiler.synth

    def counting(self: Compiler, target: Target, out: Path, options: Options, report: Report) -> Compiled:
        compiled.append(out.as_posix())
        return real(self, target, out, options, report)

    monkeypatch.setattr(Compiler, "synth", counting)
    again = synth()
    assert compiled == []
    assert again["diagnostics"] == first["diagnostics"]
    for place in TARGETS:
        written, same = first["environments"][place], again["environments"][place]
        assert same["files"]["unchanged"] == written["files"]["created"]
        assert {**same, "files": {}, "starts": []} == {**written, "files": {}, "starts": []}
    (repo / "specs/mnist.yaml").write_text(SPEC.replace("train.py", "better.py"))
    synth()
    assert compiled == [f"out/{place}" for place in TARGETS]


def test_an_unchanged_synth_still_judges_the_environments_together(repo: Path) -> None:
    (repo / "stowplan.yaml").write_text(ONE_CLUSTER)
    for place in TARGETS:
        assert run(f"synth --env {place}").exit_code == 0
    done = run("synth")
    assert done.exit_code == 1
    assert "error SP809: prod/prod-a and prod/prod-b write " in done.output


def test_the_repository_with_environments_is_found_from_its_subfolders(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / ".git").mkdir()
    monkeypatch.chdir(repo / "specs")
    assert run("validate --env dev").stdout.splitlines()[-1] == "dev: 1 spec in 1 file"
