"""`stowplan init`: its files compile unchanged, and existing files are not touched."""

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.generate import starter
from stowplan.compiler.generate.starter import released
from stowplan.compiler.generate.starter.ci_files import Ci
from stowplan.compiler.generate.starter.stamp import stamped
from stowplan.schema.platform.settings import Digests

REPOSITORY = Path(__file__).parents[4]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.mark.parametrize(
    ("options", "specs"),
    [([], {"dataset-mnist", "training-mnist-train"}), (["--legacy"], {"sampleset-mnist", "paddlejob-mnist-train"})],
)
def test_the_starter_compiles_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], specs: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "mine", *options).exit_code == 0
    done = run("synth", "mine", "--format", "json")
    assert done.exit_code == 0
    found = json.loads(done.output)["diagnostics"]
    assert [each["code"] for each in found if each["severity"] != "info"] == []
    assert run("synth", "mine", "--check").exit_code == 0
    names = {path.parent.name for path in Path("mine/out").glob("ml/*/*.yaml")}
    assert names == specs | {"reporter"}


def test_the_starter_with_environments_compiles_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "mine", "--environments", "dev,prod").exit_code == 0
    done = run("synth", "mine", "--format", "json")
    assert done.exit_code == 0
    assert list(json.loads(done.output)["environments"]) == ["dev", "prod"]
    # The run in prod waits to be started.
    assert {each["severity"] for each in json.loads(done.output)["diagnostics"]} == {"info"}
    assert "SP810" in [each["code"] for each in json.loads(done.output)["diagnostics"]]
    assert run("synth", "mine", "--check").exit_code == 0
    assert {path.parent.name for path in Path("mine/out").glob("*/_inventory")} == {"dev", "prod"}
    assert not list(Path("mine/out/prod").glob("ml/training-*/job-*"))


def test_the_starter_with_environments_compiles_when_it_is_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("init", "--environments", "dev,prod")
    platform = Path("stowplan.yaml")
    text = platform.read_text().replace("  # repoURL:", "  repoURL:")
    platform.write_text(text)
    assert "error SP809" in run("validate").output, "both are in one cluster"
    platform.write_text(text.replace("    # set:", "    set:"))
    assert run("synth").exit_code == 0
    (application,) = Path("out/prod/argocd").glob("application-*-prod-ns-ml.yaml")
    assert "https://prod.example.com:6443" in application.read_text()


def test_platform_file_of_a_checkout_shows_how_to_name_images_by_tag(tmp_path: Path) -> None:
    assert not released.FILE.exists()
    starter.write(tmp_path)
    text = (tmp_path / "stowplan.yaml").read_text()
    assert f'# images:\n#   registry: registry.example.com/ml\n#   tag: "{version("stowplan")}"\n' in text
    assert YAML(typ="safe").load(text).get("images") is None


def test_platform_file_of_a_release_names_images_by_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {agent: f"sha256:{number:064}" for number, agent in enumerate(Digests.model_fields)}
    given = {"registry": "registry.example.com/stowplan", "digests": digests}
    (tmp_path / "released.json").write_text(json.dumps(given))
    monkeypatch.setattr(released, "FILE", tmp_path / "released.json")
    starter.write(tmp_path / "mine")
    platform = YAML(typ="safe").load(tmp_path / "mine/stowplan.yaml")
    assert platform["images"] == given
    said = run("synth", str(tmp_path / "mine"))
    assert (said.exit_code, "SP606" in said.output) == (0, False)
    (reporter,) = (tmp_path / "mine/out/ml/reporter").glob("deployment-*.yaml")
    assert f"image: registry.example.com/stowplan/stowplan-control@{digests['control']}\n" in reporter.read_text()


def test_without_environments_the_platform_file_has_none(tmp_path: Path) -> None:
    starter.write(tmp_path)
    assert "environments" not in (tmp_path / "stowplan.yaml").read_text()


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("dev,dev", "There are two of the environment dev"),
        ("dev,Prod", "Prod"),
        ("dev,all", "No environment can be named all"),
        ("dev,", "environment"),
        ("dev/prod", "dev/prod"),
    ],
)
def test_names_that_environments_cannot_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str, told: str
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    done = run("init", "--environments", names)
    assert done.exit_code == 2
    assert told in done.output
    assert not list(tmp_path.iterdir())


def test_environments_are_not_added_to_a_platform_file_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stowplan.yaml").touch()
    told = run("init", "--environments", "dev,prod").output
    assert "stowplan.yaml stays as it is: add `environments` with dev, prod to it." in told
    assert Path("stowplan.yaml").read_text() == ""


@pytest.mark.parametrize(("legacy", "dataset", "role"), [(False, "Dataset", "node"), (True, "SampleSet", "worker")])
def test_training_is_held_back_until_its_data_is_there(
    tmp_path: Path, dataset: str, role: str, *, legacy: bool
) -> None:
    """Otherwise a newcomer's first job would train on the files of the first second."""
    starter.write(tmp_path, legacy=legacy)
    said = run("synth", str(tmp_path))
    assert said.exit_code == 0
    (line,) = [each for each in said.output.splitlines() if "mnist-train" in each]
    assert line.startswith(f"starts after {dataset} mnist: Job ml/mnist-train-")
    (path,) = tmp_path.glob(f"out/ml/*-mnist-train/job-*-{role}.yaml")
    job = YAML(typ="safe").load(path)["spec"]
    assert job["suspend"] is True
    if legacy:
        waiting = job["template"]["spec"].get("initContainers", ())
        assert [each["name"] for each in waiting] == ["wait-dataset", "wait-peers"]


def test_data_of_the_job_is_cached_and_its_pods_prefer_the_nodes_of_the_cache(tmp_path: Path) -> None:
    starter.write(tmp_path)
    assert run("synth", str(tmp_path)).exit_code == 0
    (cache,) = tmp_path.glob("out/ml/dataset-mnist/statefulset-*.yaml")
    (job,) = tmp_path.glob("out/ml/training-mnist-train/job-*-node.yaml")
    pod = YAML(typ="safe").load(job)["spec"]["template"]["spec"]
    (preferred,) = pod["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    wanted = preferred["podAffinityTerm"]["labelSelector"]["matchLabels"]
    assert wanted.items() <= YAML(typ="safe").load(cache)["spec"]["template"]["metadata"]["labels"].items()
    claims = [each.get("persistentVolumeClaim", {}).get("claimName") for each in pod["volumes"]]
    assert claims == ["mnist"]


def test_in_the_present_folder_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "made stowplan.yaml\n" in run("init").output
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(starter.files())


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "stowplan.yaml").write_text("")
    done = run("init", str(tmp_path))
    assert f"kept {tmp_path}/stowplan.yaml" in done.output
    assert (tmp_path / "stowplan.yaml").read_text() == ""
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "made " not in run("init", str(tmp_path)).output
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_links_are_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/stowplan.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert run("init", str(tmp_path / "mine")).exit_code == 0
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("a file")
    done = run("init", str(tmp_path / "mine"))
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_modelines_lead_to_schemas(tmp_path: Path) -> None:
    starter.write(tmp_path)
    for path in (tmp_path / "stowplan.yaml", *(tmp_path / "specs").glob("*.yaml")):
        first = path.read_text().splitlines()[0]
        assert first.startswith("# yaml-language-server: $schema=")
        schema = path.parent / first.partition("=")[2]
        assert json.loads(schema.read_text())["title"] == ("Platform" if path.name == "stowplan.yaml" else "Stowplan")


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("ci", Ci)
def test_yaml_is_sound_and_complete(ci: Ci, *, legacy: bool) -> None:
    files = {
        path: text for path, text in starter.files(legacy=legacy, ci=ci).items() if path.endswith((".yml", ".yaml"))
    }
    assert len(files) == 7 + (ci is Ci.COMMIT)
    for path, text in files.items():
        assert YAML(typ="safe").load(text), path
        assert "${version}" not in text, path
        assert "$$" not in text, path


WORKFLOW, GITLAB = ".github/workflows/stowplan.yaml", ".gitlab-ci.yml"
COMMENT, OUTPUT = ".github/workflows/stowplan-comment.yaml", ".github/workflows/stowplan-output.yaml"
SCRIPT = "ci/commit-output.sh"
ACTION = (REPOSITORY / ".github/actions/check/action.yml").read_text()
REQUIREMENTS = "requirements/stowplan-dependencies.txt"


@pytest.fixture(params=Ci)
def files(request: pytest.FixtureRequest) -> dict[str, str]:
    """The files of `init`, and the action of this repository."""
    return starter.files(ci=request.param) | {"action": ACTION}


def workflows(files: dict[str, str]) -> dict[str, Any]:
    """The workflows of GitHub among the files."""
    return {path: YAML(typ="safe").load(text) for path, text in files.items() if path.startswith(".github/workflows/")}


def test_nothing_is_installed_by_a_name_alone(files: dict[str, str]) -> None:
    """Otherwise anyone who registers a free name on an index could run code in every user's CI."""
    for path in (*workflows(files), GITLAB, "action", ".pre-commit-config.yaml"):
        assert "stowplan==" not in files[path]
        for install in re.findall(r"pip install (.*)", files[path]):
            assert install.startswith(("--require-hashes -r ", "--no-deps --no-build-isolation "))
    assert "additional_dependencies" not in files[".pre-commit-config.yaml"]


def test_dependencies_are_those_of_the_lock_file_by_hash() -> None:
    """`make requirements` renews them."""
    locked = subprocess.run(
        [
            *(
                Path(sys.executable).parent / "uv",
                "export",
                "--quiet",
                "--offline",
                "--frozen",
                "--no-header",
                "--no-dev",
            ),
            *("--group", "wheel", "--no-emit-project", "--format", "requirements.txt"),
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert starter.files()[REQUIREMENTS] == stamped(locked)
    names = re.findall(r"^([a-z0-9-]+)==.*\\\n    --hash=sha256:[0-9a-f]{64}", locked, re.MULTILINE)
    assert {"cdk8s", "hatchling", "pydantic-core"} <= set(names)
    assert len(names) == len(re.findall(r"^[a-z]", locked, re.MULTILINE))


def test_actions_and_images_are_pinned(files: dict[str, str]) -> None:
    used = re.findall(r"uses: (.*)", "".join(files[path] for path in (*workflows(files), "action")))
    assert len(used) in (8, 10)
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in used)
    names = {each.split(" ")[0] for each in used}
    assert len({each.split("@")[0] for each in names}) == len(names), "one version of each"
    assert re.search(r"image: python:[\w.-]+@sha256:[0-9a-f]{64}\n", files[GITLAB])


def test_workflows_have_no_more_rights_than_they_need(files: dict[str, str]) -> None:
    """What runs code of a pull request may read it, and nothing else."""
    needed = {
        WORKFLOW: ({"contents": "read"}, {}),
        COMMENT: ({}, {"actions": "read", "contents": "read", "pull-requests": "write"}),
        OUTPUT: ({"contents": "read"}, {"contents": "write"}),
    }
    for path, workflow in workflows(files).items():
        (job,) = workflow["jobs"].values()
        assert (workflow["permissions"], job.get("permissions", {})) == needed[path]
        checkout = next(each for each in job["steps"] if each.get("uses", "").startswith("actions/checkout@"))
        assert checkout["with"]["persist-credentials"] is False
        assert "ref" not in checkout["with"]
    assert "pull_request_target" not in "".join(files.values())


def test_no_script_holds_what_strangers_write(files: dict[str, str]) -> None:
    """A title or the name of a branch in a script is run; in a variable it is not."""
    jobs = [job for workflow in workflows(files).values() for job in workflow["jobs"].values()]
    steps = [each for job in jobs for each in job["steps"]]
    steps += YAML(typ="safe").load(ACTION)["runs"]["steps"]
    assert [each for each in steps if "run" in each]
    assert not [each for each in steps if "${{" in each.get("run", "")]


def test_every_check_has_a_base() -> None:
    files = starter.files() | {"action": ACTION, SCRIPT: starter.files(ci=Ci.COMMIT)[SCRIPT]}
    for path in (WORKFLOW, GITLAB, "action", ".pre-commit-config.yaml", SCRIPT):
        checks = [line for line in files[path].splitlines() if "synth" in line and "--check" in line]
        assert checks
        assert all("--base " in line for line in checks)


def test_ci_that_commits_has_no_check_of_committed_output(tmp_path: Path) -> None:
    done = run("init", str(tmp_path), "--ci", "commit")
    assert "Next: edit the specs, run `stowplan validate " in done.output
    assert "CI then compiles them and commits out/." in done.output
    files = starter.files(ci=Ci.COMMIT)
    assert set(files) - set(starter.files()) == {OUTPUT, SCRIPT}
    assert "--check" not in files[".pre-commit-config.yaml"]
    for path in (WORKFLOW, GITLAB):
        steps = [line.partition("stowplan synth")[2] for line in files[path].splitlines() if "stowplan synth" in line]
        assert [" --check" in each for each in steps] == [False, True], "What it has just compiled is checked in Git."


def test_ci_of_the_other_sort_is_named(tmp_path: Path) -> None:
    """It stays, as every file that is there, and would fail."""
    run("init", str(tmp_path))
    done = run("init", str(tmp_path), "--ci", "commit")
    for path in (WORKFLOW, GITLAB, ".pre-commit-config.yaml"):
        sentence = f"{tmp_path / path} is for `--ci check`: remove it, and run this command again."
        assert sentence in done.output
        (tmp_path / path).unlink()
    assert "remove it" not in run("init", str(tmp_path), "--ci", "commit").output


def test_files_that_decide_what_runs_have_a_code_owner() -> None:
    lines = [line.split() for line in starter.files()["CODEOWNERS"].splitlines() if line and not line.startswith("#")]
    for path in (
        *("out/argocd/root.yaml", "out/ml/sampleset-a/job-a.yaml", "stowplan.yaml", "stowplan.lock"),
        *("extensions/rules.py", "requirements/stowplan.txt", SCRIPT, OUTPUT, WORKFLOW, GITLAB),
        *(
            ".pre-commit-config.yaml",
            ".gitattributes",
            "specs/.gitattributes",
            ".gitmodules",
            ".gitignore",
            "CODEOWNERS",
        ),
    ):
        owners = [who for pattern, who in lines if _owns(pattern, path)]
        assert owners[-1:] == ["@your-org/ml-platform"], path


def _owns(pattern: str, path: str) -> bool:
    """A pattern that begins with no slash is one for names in all folders."""
    place = f"/{path}" if pattern.startswith("/") else Path(path).name
    return fnmatch(place, pattern + "*" * pattern.endswith("/"))


def test_no_diff_of_the_output_is_folded(tmp_path: Path) -> None:
    starter.write(tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    paths = ["out/argocd/a.yaml", "out/_cluster/a.yaml", "out/ml/paddlejob-a/job-a.yaml", REQUIREMENTS]
    said = subprocess.run(
        ["git", "-C", tmp_path, "check-attr", "linguist-generated", "diff", "--", *paths],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(said) == 2 * len(paths)
    assert all(line.endswith(": unspecified") for line in said)


def test_git_ignores_what_is_not_to_be_committed_and_nothing_of_the_output(tmp_path: Path) -> None:
    starter.write(tmp_path)
    of_account = tmp_path.parent / "excludes"
    of_account.write_text("out/\n")
    git = ("git", "-C", str(tmp_path), "-c", f"core.excludesFile={of_account}")
    subprocess.run([*git, "init", "-q"], check=True)
    committed = [
        "out/ml/training-mnist-train/job-a.yaml",
        "out/_inventory/ml/training-a.jsonl",
        "specs/report.html",
        *starter.files(),
    ]
    ignored = ["report.html", "review/comment.md", ".venv/bin/stowplan", "extensions/__pycache__/rules.pyc"]
    said = subprocess.run([*git, "check-ignore", *committed, *ignored], capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == ignored


def with_repository(folder: Path) -> None:
    """Give the platform file of the starter in `folder` an address, and change nothing else."""
    file = folder / "stowplan.yaml"
    text = file.read_text()
    assert text.count("# repoURL: ") == 1
    file.write_text(text.replace("# repoURL: ", "repoURL: "))


def test_argo_cd_may_write_into_named_namespaces_alone(tmp_path: Path) -> None:
    """Also for those who fill in the address of their repository and nothing else."""
    starter.write(tmp_path)
    with_repository(tmp_path)
    assert run("synth", str(tmp_path)).exit_code == 0
    (project,) = tmp_path.glob("out/argocd/appproject-*.yaml")
    assert [each["namespace"] for each in YAML(typ="safe").load(project)["spec"]["destinations"]] == ["ml"]


def test_a_namespace_that_argo_cd_may_not_write_into_is_named(tmp_path: Path) -> None:
    starter.write(tmp_path)
    with_repository(tmp_path)
    job = tmp_path / "specs/mnist-train.yaml"
    job.write_text(job.read_text().replace("name: mnist-train", "name: mnist-train\n  namespace: other", 1))
    done = run("validate", str(tmp_path))
    assert done.exit_code == 1
    assert "argocd.destination.namespaces" in done.output


PRIVILEGED = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: probe, namespace: kube-system}
spec:
  worker:
    replicas: 1
    template:
      spec:
        containers:
          - name: probe
            image: registry.example.com/ml/probe:1.0
            securityContext: {privileged: true}
            volumeMounts: [{name: node, mountPath: /node}]
        volumes: [{name: node, hostPath: {path: /}}]
"""


_POD = "spec.worker.template.spec"


@pytest.mark.parametrize(
    ("namespace", "errors"),
    [
        ("kube-system", {("SP615", "metadata.namespace")}),
        (
            "ml",
            {
                ("SP614", f"{_POD}.containers[0].securityContext.privileged"),
                ("SP614", f"{_POD}.volumes[0].hostPath"),
            },
        ),
    ],
)
def test_a_privileged_job_with_the_files_of_its_node_is_refused(
    tmp_path: Path, namespace: str, errors: set[tuple[str, str]]
) -> None:
    """The namespace is judged before the pods."""
    starter.write(tmp_path)
    (tmp_path / "specs/probe.yaml").write_text(PRIVILEGED.replace("kube-system", namespace))
    done = run("validate", str(tmp_path), "--format", "json")
    assert done.exit_code == 1
    found = json.loads(done.output)["diagnostics"]
    assert {(each["code"], each["fieldPath"]) for each in found if each["severity"] == "error"} == errors


def test_the_platform_file_shows_what_guards_it(tmp_path: Path) -> None:
    """Settings that hold by default are written out, so that a pull request that lifts them shows it."""
    starter.write(tmp_path)
    platform = YAML(typ="safe").load(tmp_path / "stowplan.yaml")
    assert platform["policy"]["podSecurityLevel"] == "baseline"
    assert platform["argocd"]["destination"] == {"namespaces": ["ml"]}


def without_marks(text: str, start: str) -> str:
    """Return the text with the comment lines from `start` on as YAML; comments within them stay."""
    before, found, rest = text.partition(f"# {start}\n")
    assert found
    lines = rest.splitlines()
    return before + "\n".join([start, *(line.removeprefix("# ") for line in lines)]) + "\n"


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ("accelerator: h100", set()),
        ("accelerator: tpu-v5e-16", {"spec.numNodes"}),
        ("network: rdma", {"spec.network"}),
    ],
)
def test_profiles_that_the_platform_file_shows_can_be_named(tmp_path: Path, fields: str, errors: set[str]) -> None:
    """The slice has four hosts and the job two nodes, and the platform does not yet allow the capability."""
    starter.write(tmp_path)
    platform, job = tmp_path / "stowplan.yaml", tmp_path / "specs/mnist-train.yaml"
    assert run("validate", str(tmp_path)).exit_code == 0
    job.write_text(job.read_text() + f"  {fields}\n")
    assert run("validate", str(tmp_path)).exit_code == 1
    platform.write_text(without_marks(platform.read_text(), "profiles:"))
    found = json.loads(run("validate", str(tmp_path), "--format", "json").output)["diagnostics"]
    assert {each["fieldPath"] for each in found if each["severity"] == "error"} == errors
    job.write_text(job.read_text().replace("numNodes: 2", "numNodes: 4"))
    platform.write_text(platform.read_text().replace("  allow: []", "  allow: [capabilities]"))
    assert run("validate", str(tmp_path)).exit_code == 0


def test_a_source_that_ci_cannot_reach_is_reported_at_once(tmp_path: Path) -> None:
    """The tests run from a checkout."""
    assert "CI cannot install Stowplan yet: finish " in run("init", str(tmp_path)).output
    assert "CI cannot install Stowplan yet" not in run("init", str(tmp_path)).output


def test_hooks_run_existing_commands() -> None:
    hooks = YAML(typ="safe").load(REPOSITORY / ".pre-commit-hooks.yaml")
    assert [each["id"] for each in hooks] == ["stowplan-validate", "stowplan-synth-check"]
    for each in hooks:
        program, *arguments = each["entry"].split()
        assert program == "stowplan"
        assert run(*arguments, *each.get("args", ()), "--help").exit_code == 0
