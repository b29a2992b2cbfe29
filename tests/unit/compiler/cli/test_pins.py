"""The lock file as users have it: what is compiled with it, what moves with it, and how a reviewer sees that."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.users import PLATFORM, codes, diagnostics_of, laid_out, run

A, B, C = (f"sha256:{each * 64}" for each in "abc")
COMMIT, NEXT = "4f0c9d2e8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d", "5b4c3d4f0c9d2e8a7b6c5d4e3f2a1b0c9d8e7f6a"
SPECS = """\
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {name: c4, namespace: ml}
spec:
  source: {huggingface: {repo: acme/c4}}
  volume: {claim: {name: samples}}
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: locked, namespace: ml}
spec:
  framework: torch
  image: registry.example.com/ml/sft:1.9
  command: [torchrun, train.py]
  datasets: [{name: c4, mountPath: /c4, revision: locked}]
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: other, namespace: ml}
spec:
  framework: torch
  image: registry.example.com/ml/base:3
  command: [torchrun, train.py]
"""
LOCK = f"""\
apiVersion: stowplan.dev/v1alpha1
kind: Lock
images:
  registry.example.com/ml/base:3: {{digest: {A}}}
  registry.example.com/ml/sft:1.9: {{digest: {A}}}
huggingface:
  datasets/acme/c4@HEAD: {{commit: {COMMIT}, date: "2026-11-20T09:30:00Z"}}
"""


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a lock file, whose output is committed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repo"
    folder.mkdir()
    laid_out(folder, SPECS, PLATFORM)
    (folder / "stowplan.lock").write_text(LOCK)
    monkeypatch.chdir(folder)
    git("init", "-q")
    compiled()
    commit()
    return folder


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def commit() -> None:
    git("add", "-A")
    git("-c", "user.email=a@example.com", "-c", "user.name=A", "commit", "-qm", "All")


def compiled() -> str:
    found = run("synth")
    assert found.exit_code == 0, found.output
    return found.output


def moved(before: str, after: str) -> None:
    path = Path("stowplan.lock")
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def written(folder: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path("out", folder).rglob("*")) if path.is_file()}


def replaced() -> dict[str, str]:
    """The messages of SP542 by the job that they are about."""
    found = [each for each in diagnostics_of("synth") if each["code"] == "SP542"]
    return {each["message"].partition("-")[0].rpartition("/")[2]: each["message"] for each in found}


def test_the_output_names_images_by_digest_and_data_by_commit() -> None:
    job = Path("out/ml/training-locked/job-locked-training-node.yaml").read_text()
    assert f"image: registry.example.com/ml/sft:1.9@{A}" in job
    assert COMMIT in Path("out/ml/dataset-c4/job-c4-sync.yaml").read_text()
    gate = Path("out/ml/training-locked/configmap-locked-training-gate.yaml").read_text()
    assert f'"revision": "{COMMIT}"' in gate


def test_the_agents_are_pinned_too_and_end_no_run() -> None:
    before = written("ml/training-other")
    for agent in ("cache", "control", "git", "transfer"):
        moved("images:\n", f"images:\n  registry.example.com/ml/stowplan-{agent}:1: {{digest: {B}}}\n")
    assert replaced() == {}
    assert written("ml/training-other") == before
    assert f"stowplan-control@{B}" in Path("out/ml/reporter/deployment-stowplan-reporter.yaml").read_text()
    shutil.rmtree("out")
    compiled()
    images = [line for each in written("ml").values() for line in each.decode().splitlines() if " image: " in line]
    assert len(images) > 5
    assert all("@sha256:" in line for line in images), images


def test_a_moved_image_replaces_the_runs_that_have_it_and_no_other() -> None:
    before = written("ml/training-other")
    moved(f"sft:1.9: {{digest: {A}", f"sft:1.9: {{digest: {B}")
    found = replaced()
    assert list(found) == ["locked"]
    assert found["locked"].endswith("The pin of registry.example.com/ml/sft:1.9 moved.")
    assert written("ml/training-other") == before
    assert run("synth", "--check").exit_code == 0


def test_a_moved_dataset_is_copied_again_and_replaces_the_job_that_waits_for_it() -> None:
    before = written("ml/training-other")
    moved(COMMIT, NEXT)
    found = replaced()
    assert set(found) == {"c4", "locked"}
    assert found["c4"].endswith("The pin of acme/c4 moved.")
    gate = Path("out/ml/training-locked/configmap-locked-training-gate.yaml").read_text()
    assert f'"revision": "{NEXT}"' in gate
    assert written("ml/training-other") == before


def test_words_for_readers_change_nothing() -> None:
    before = written("")
    moved("2026-11-20", "2026-11-21")
    compiled()
    assert written("") == before


def test_a_check_in_ci_fails_until_the_output_has_the_moved_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert run("synth", "--check", "--base", "HEAD").exit_code == 0
    moved(COMMIT, NEXT)
    assert run("synth", "--check", "--base", "HEAD").exit_code == 1
    compiled()
    git("add", "-A")
    assert run("synth", "--check", "--base", "HEAD").exit_code == 0


def test_without_the_lock_file_the_locked_job_does_not_compile() -> None:
    Path("stowplan.lock").unlink()
    assert codes("synth") == ["error SP905"]


def test_another_platform_file_has_a_lock_file_of_its_own() -> None:
    Path("stowplan.yaml").rename("gpu.yaml")
    Path("stowplan.lock").rename("gpu.lock")
    assert codes("validate", "--platform", "gpu.yaml") == []
    Path("gpu.lock").unlink()
    assert codes("validate", "--platform", "gpu.yaml") == ["error SP905"]


def test_the_lock_file_is_no_link_out_of_the_repository(tmp_path: Path) -> None:
    outside = tmp_path / "outside.lock"
    Path("stowplan.lock").rename(outside)
    Path("stowplan.lock").symlink_to(outside)
    assert "error SP109" in codes("validate")


def pins(*options: str) -> list[dict[str, Any]]:
    found: dict[str, Any] = json.loads(run("diff", "--base", "HEAD", "--format", "json", *options).stdout)
    own: list[dict[str, Any]] = found["pins"]
    return own


def test_explain_says_that_a_value_is_pinned() -> None:
    job = "out/ml/training-locked/job-locked-training-node.yaml#/spec/template/spec/containers/0/image"
    assert "copied from the pin of specs/imagenet.yaml:13:10 spec.image" in run("explain", job).stdout
    sync = "out/ml/dataset-c4/dataset-c4.yaml#/spec/source/huggingface"
    found = json.loads(run("explain", sync, "--json").stdout)
    text = json.dumps(found)
    assert text.count('"pinned": true') == 1, "the revision, and not the name of the repository"


def test_diff_shows_which_pins_moved_since_the_base() -> None:
    assert pins() == []
    moved(COMMIT, NEXT)
    moved("registry.example.com/ml/base:3", "registry.example.com/ml/base:4")
    text = run("diff", "--base", "HEAD").stdout
    lines = text[text.index("Pins moved") :].splitlines()
    assert lines == [
        "Pins moved",
        f"  removed registry.example.com/ml/base:3  {'a' * 12}",
        f"  added registry.example.com/ml/base:4  {'a' * 12}",
        f"  moved datasets/acme/c4@HEAD  {COMMIT[:12]} → {NEXT[:12]}  2026-11-20",
    ]
    markdown = run("diff", "--base", "HEAD", "--format", "markdown").stdout
    assert "#### Pins moved" in markdown
    assert f"- **moved** `datasets/acme/c4@HEAD` `{COMMIT[:12]} → {NEXT[:12]}`" in markdown
    assert [each["change"] for each in pins()] == ["removed", "added", "moved"]
    assert pins()[2]["after"]["commit"] == NEXT


def test_a_pin_of_one_environment_alone_is_used_and_its_clusters_are_pinned_alike() -> None:
    clusters = "[{name: a, server: https://a.example.com}, {name: b, server: https://b.example.com}]"
    patch = "{target: {kind: Training, name: other}, merge: {spec: {image: registry.example.com/ml/base:4}}}"
    dev = f"{{name: dev, clusters: [{{name: c, server: https://c.example.com}}], patches: [{patch}]}}"
    prod = f"{{name: prod, clusters: {clusters}}}"
    Path("stowplan.yaml").write_text(f"{PLATFORM}environments:\n- {prod}\n- {dev}\n")
    shutil.rmtree("out")
    moved("images:\n", f"images:\n  registry.example.com/ml/base:4: {{digest: {C}}}\n")
    moved("images:\n", f"images:\n  registry.example.com/ml/stowplan-control:1: {{digest: {B}}}\n")
    assert codes("validate") == []
    assert codes("validate", "--env", "dev") == []
    compiled()
    for cluster in ("prod/a", "prod/b", "dev/c"):
        gate = Path(f"out/{cluster}/ml/training-locked/job-locked-training-gate.yaml").read_text()
        assert f"stowplan-control@{B}" in gate
    job = Path("out/dev/c/ml/training-other/job-other-training-node.yaml").read_text()
    assert f"registry.example.com/ml/base:4@{C}" in job
    moved("ml/base:4:", "ml/base:5:")
    assert codes("validate") == ["info SP903"]
