"""`synth` after an edit of a dataset's cache: what is missing in a larger cache is loaded, and nothing else runs."""

from pathlib import Path

import pytest

from tests.unit.compiler.committed.test_scaling import (
    DATASET,
    DATASET_TASK,
    SAMPLE_SET,
    as_of_first_version,
    compiled,
    git,
    jobs,
    runs,
)
from tests.unit.users import codes, laid_out, run

TRAINING = """\
---
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata:
  name: train
spec:
  framework: torch
  image: registry.example.com/ml/torch:2.8
  command: [torchrun, train.py]
  datasets:
    - {name: data, mountPath: /data, wait: {until: warmed}}
"""
TASK = DATASET_TASK.format(word="more", field="warmup: {}")
NATIVE = DATASET + "    tiers: [{path: PATH, size: SIZEMi}]\n" + TASK + TRAINING
LEGACY = SAMPLE_SET + "  cache: {levels: [{path: PATH, cacheSize: SIZE}]}\n"
KINDS = [pytest.param(LEGACY, id="legacy"), pytest.param(NATIVE, id="native")]


def of(spec: str, size: int, path: str = "/data/a") -> str:
    return spec.replace("SIZE", str(size)).replace("PATH", path)


def names(repo: Path) -> set[str]:
    return set(jobs(runs(repo)))


def warmups(repo: Path) -> set[str]:
    return {name for name in names(repo) if name.startswith("data-warmup-0-")}


@pytest.mark.parametrize("spec", KINDS)
@pytest.mark.parametrize(("size", "path"), [(2048, "/data/a"), (1024, "/data/b")])
def test_larger_and_other_caches_are_warmed_and_nothing_else_runs(
    tmp_path: Path, spec: str, size: int, path: str
) -> None:
    compiled(tmp_path, of(spec, 1024))
    before, files = warmups(tmp_path), runs(tmp_path)
    laid_out(tmp_path, of(spec, size, path), 'images: {registry: registry.example.com/ml, tag: "2"}\n')
    shown = run("diff", str(tmp_path))
    laid_out(tmp_path, of(spec, size, path), 'images: {registry: registry.example.com/ml, tag: "2"}\n')
    assert [each for each in codes("synth", str(tmp_path)) if not each.startswith("info")] == []
    (after,) = warmups(tmp_path)
    assert {after} != before
    assert "Job default/data-sync" not in shown.output
    assert f"replaced Job default/{after} in the place of {before.pop()}" in shown.output
    left = {path: text for path, text in runs(tmp_path).items() if not path.endswith("job-data-warmup-0.yaml")}
    assert left == {path: files[path] for path in left}
    assert len(left) == len(files) - 1
    (body,) = (body for name, body in jobs(runs(tmp_path)).items() if name == after)
    pod = body["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == ["warmup", "--partition", "0", "--partitions", "1"]
    assert container["image"].endswith(":2")
    mounted = {each["configMap"]["name"] for each in pod["volumes"] if "configMap" in each}
    assert {each[:-9] for each in mounted} == {"data-sampleset-warmup" if spec is LEGACY else "data-dataset-warmup"}
    again = runs(tmp_path)
    compiled(tmp_path, of(spec, size, path), "2")
    assert runs(tmp_path) == again


@pytest.mark.parametrize("spec", KINDS)
def test_smaller_caches_start_nothing(tmp_path: Path, spec: str) -> None:
    compiled(tmp_path, of(spec, 2048))
    before = runs(tmp_path)
    compiled(tmp_path, of(spec, 1024), "2")
    assert runs(tmp_path) == before


def test_each_enlargement_warms_once(tmp_path: Path) -> None:
    """Also one to a size that the cache had before: it has dropped what did not fit since."""
    seen: list[set[str]] = []
    for size in (1024, 2048, 1024, 2048):
        compiled(tmp_path, of(NATIVE, size))
        seen.append(warmups(tmp_path))
    first, larger, smaller, larger_again = seen
    assert first != larger == smaller != larger_again != first


def test_nodes_that_are_added_join_the_newest_warmup(tmp_path: Path) -> None:
    for size in (1024, 2048):
        compiled(tmp_path, of(NATIVE, size))
    before = runs(tmp_path)
    for number in (2, 3):
        compiled(tmp_path, of(NATIVE, 2048).replace("nodes: 1", f"nodes: {number}"), "2")
        after = runs(tmp_path)
        assert {path: after[path] for path in before} == before
        hashes = {name[-8:] for name in names(tmp_path) if name.startswith("data-warmup")}
        assert len(hashes) == 1
    compiled(tmp_path, of(NATIVE, 4096).replace("nodes: 1", "nodes: 3"), "2")
    found = {name for name in names(tmp_path) if name.startswith("data-warmup")}
    assert (len(found), len({name[-8:] for name in found})) == (3, 1)
    assert hashes.isdisjoint(name[-8:] for name in found)


@pytest.mark.parametrize(
    ("spec", "first"), [pytest.param(LEGACY, True, id="legacy"), pytest.param(NATIVE, False, id="native")]
)
def test_a_reviewed_branch_enlarges_a_cache(tmp_path: Path, spec: str, *, first: bool) -> None:
    """`first` is an output of 0.1.0, which had no native kinds."""
    compiled(tmp_path, of(spec, 1024))
    if first:
        as_of_first_version(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    before = names(tmp_path)
    compiled(tmp_path, of(spec, 1024), "2", "--base", "main")
    assert names(tmp_path) == before
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "second")
    compiled(tmp_path, of(spec, 2048), "2", "--base", "main")
    after = names(tmp_path)
    assert len(after - before) == 1
    for _ in range(2):
        compiled(tmp_path, of(spec, 2048), "2", "--base", "main")
        assert names(tmp_path) == after
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "third")
    assert run("synth", str(tmp_path), "--check", "--base", "main").exit_code == 0
    compiled(tmp_path, of(spec, 2048), "3", "--base", "main")
    assert names(tmp_path) == after


def test_a_forged_file_is_no_warmup_of_a_larger_cache(tmp_path: Path) -> None:
    """What differs from the compiled Job in more than its name is not accepted."""
    for size in (1024, 2048):
        compiled(tmp_path, of(NATIVE, size))
    (path,) = (tmp_path / "out").rglob("job-data-warmup-0.yaml")
    path.write_text(path.read_text().replace("- --partition\n", "- --partitions\n", 1))
    assert any("SP51" in each for each in codes("synth", str(tmp_path)))
