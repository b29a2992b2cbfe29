"""Sources of the output's values: `stowplan explain` of a value or a line, and the map behind it."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import Result

from stowplan.compiler.cli import explaining
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.generate import starter
from stowplan.compiler.model import OutputFile
from stowplan.compiler.pipeline import Compiled
from stowplan.compiler.provenance.leaves import leaves, pointer, steps
from stowplan.compiler.provenance.source_map import ExplainedLeaf, How, SourceMap
from stowplan.compiler.repository.layout import Repository
from tests.repositories import CASES, EXAMPLES, REPOSITORY, lay_out, synthesised
from tests.unit import users as command

JOB = "out/ml/paddlejob-mnist-train/job-mnist-train-paddlejob-worker.yaml"


def mapped(repo: Path) -> tuple[Compiled, SourceMap]:
    report = Report()
    compiled = synthesised(repo, repo / "nothing-here", report)
    assert compiled.program, report.diagnostics
    return compiled, SourceMap(compiled.program, compiled.outputs, version("stowplan"))


@pytest.mark.parametrize(
    "case",
    [
        "data-cube-git-download",
        "dataset-task-sync-storage-claim",
        "mx-job-local",
        "native-dataset-no-source",
        "training-root-image",
        "training-job-local",
        "tasks-rmr",
    ],
)
def test_every_leaf_of_the_objects_of_a_spec_is_explained(case: str, tmp_path: Path) -> None:
    """One small case of each kind; `tests/nightly/provenance` has all examples."""
    lay_out(tmp_path, {"specs.yaml": CASES[case].read_text(encoding="utf-8")})
    compiled, found = mapped(tmp_path)
    assert_explained([each for each in compiled.outputs if each.spec], found, tmp_path)


def assert_explained(outputs: Iterable[OutputFile], found: SourceMap, repo: Path) -> None:
    for output in outputs:
        entries = found.entries(output)
        assert [each.leaf for each in entries] == list(leaves(output.manifest.body).values())
        unexplained = [pointer(each.leaf.path) for each in entries if not each.origins and not each.rules]
        assert unexplained == [], output.path
        for each in entries:
            assert_copies_are_copies(each, repo)


def test_gate_of_a_job_that_runs_after_others_is_explained(tmp_path: Path) -> None:
    lay_out(tmp_path, {"jobs.yaml": CASES["gate-run-after"].read_text(encoding="utf-8")})
    compiled, found = mapped(tmp_path)
    outputs = [each for each in compiled.outputs if each.spec and each.spec.name == "resnet"]
    assert_explained(outputs, found, tmp_path)
    every = [each for output in outputs for each in found.entries(output)]
    assert [each for each in every for rule in each.rules if rule.id == "extension"] == []
    (config,) = [each for each in outputs if each.path.endswith("configmap-resnet-paddlejob-gate.yaml")]
    (run,) = [each for each in found.entries(config) if each.leaf.path[-2:] == (0, "run")]
    assert {each.location.line for each in run.origins} & {6, 7}, "it follows from source and sink of the DataCube"


def assert_copies_are_copies(entry: ExplainedLeaf, repo: Path) -> None:
    """Assert that each value reported as copied is at the reported position of the file."""
    for origin in entry.origins:
        if origin.how is not How.COPIED or origin.default or isinstance(entry.leaf.value, dict | list):
            continue
        if origin.pinned:
            # The spec names what moves, and the lock file what is compiled in its place.
            digest = str(entry.leaf.value).rpartition("@")[2]
            assert digest in (repo / "stowplan.lock").read_text(encoding="utf-8"), entry
            continue
        line = (repo / origin.location.file).read_text(encoding="utf-8").splitlines()[origin.location.line - 1]
        words = (
            str(entry.leaf.value).lower() if not isinstance(entry.leaf.value, str) else entry.leaf.value.split("\n")[0]
        )
        if origin.location.file.endswith(".py"):
            assert line.endswith("("), "all of a spec is at the line that makes its construct"
            continue
        here = line[origin.location.column - 1 :].strip("\"'|>- ")
        # A block of text begins below its key, and long or escaped text is written otherwise than it reads.
        assert here == "" or words[:10].rstrip('"') in line or "\\" in line, (entry, line)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The starter repository, compiled. Its specs are studied once for all questions, which takes a second."""
    folder = tmp_path_factory.mktemp("provenance")
    starter.write(folder, legacy=True)
    assert command.run("synth", str(folder)).exit_code == 0
    studied = explaining._source_map
    once = cache(lambda repo, out, name: studied(place_of(repo, out, name)))
    with patch.object(explaining, "_source_map", lambda place: once(place.checkout.repo, place.top, place.target.name)):
        yield folder


def place_of(repo: Repository, out: Path, name: str) -> explaining._Place:
    return explaining._place("stowplan.yaml", repo, out, name or None)


def run(*arguments: str) -> Result:
    return command.run("explain", *arguments)


def value(repo: Path, place: str) -> list[str]:
    done = run(f"{repo}/{place}", "--repo", str(repo))
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_every_leaf_of_the_starter_is_explained(repo: Path) -> None:
    compiled, found = explaining._source_map(place_of(Repository(repo), repo / "out", ""))
    assert_explained(compiled.outputs, found, repo)


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (
            "/spec/completions",
            ["/spec/completions: 2", "  copied from specs/mnist-train.yaml:15:15 spec.worker.replicas"],
        ),
        (
            "/spec/template/spec/containers/0/image",
            [
                "/spec/template/spec/containers/0/image: registry.example.com/ml/mnist:1.0",
                "  copied from specs/mnist-train.yaml:20:20 spec.worker.template.spec.containers[0].image",
            ],
        ),
        (
            "/metadata/namespace",
            ["/metadata/namespace: ml", "  copied from stowplan.yaml:8:19 defaultNamespace"],
        ),
        (
            "/apiVersion",
            [
                "/apiVersion: batch/v1",
                "  rule identity: Every object has the version and kind that Kubernetes knows it by.",
            ],
        ),
    ],
)
def test_a_value(repo: Path, place: str, lines: list[str]) -> None:
    assert value(repo, f"{JOB}#{place}") == lines


def test_a_pointer_may_lack_its_first_slash(repo: Path) -> None:
    assert value(repo, f"{JOB}#spec/completions") == value(repo, f"{JOB}#/spec/completions")


def test_a_line_of_the_output_is_explained_like_its_value(repo: Path) -> None:
    lines = (repo / JOB).read_text().splitlines()
    number = next(index for index, line in enumerate(lines, 1) if line.strip().startswith("completions:"))
    assert value(repo, f"{JOB}:{number}") == value(repo, f"{JOB}#/spec/completions")


def test_a_line_inside_a_string_of_several_lines_is_explained_by_the_string(repo: Path) -> None:
    config = "out/ml/sampleset-mnist/configmap-mnist-sampleset-runtime.yaml"
    lines = (repo / config).read_text().splitlines()
    number = next(index for index, line in enumerate(lines, 1) if line.strip().startswith('"partitions"'))
    assert value(repo, f"{config}:{number}")[0].startswith("/data/config.json#/")


def test_a_line_of_the_header_is_no_field(repo: Path) -> None:
    done = run(f"{repo}/{JOB}:1", "--repo", str(repo))
    assert done.exit_code == 2
    assert "There is no field on line 1" in done.output


def test_neighbours_with_the_same_reason_are_grouped(repo: Path) -> None:
    lines = value(repo, "out/ml/sampleset-mnist/job-mnist-sync.yaml#/spec/podFailurePolicy/rules/1")
    assert [line.partition(":")[0] for line in lines] == [
        "/spec/podFailurePolicy/rules/1/action",
        "/spec/podFailurePolicy/rules/1/onPodConditions/0/status",
        "/spec/podFailurePolicy/rules/1/onPodConditions/0/type",
        "  rule retries",
    ]


def test_variables_of_agents_and_of_training_have_different_reasons(repo: Path) -> None:
    agent = value(repo, "out/ml/sampleset-mnist/job-mnist-sync.yaml#/spec/template/spec/containers/0/env/0")
    training = value(repo, f"{JOB}#/spec/template/spec/containers/0/env/0/name")
    assert [lines[-1].split(":")[0] for lines in (agent, training)] == ["  rule agent-container", "  rule rendezvous"]


def test_a_value_caused_by_a_block_names_the_block(repo: Path) -> None:
    first, origin, *_ = value(repo, f"{JOB}#/spec/template/spec/initContainers/0/name")
    assert first.endswith(": wait-dataset")
    assert origin.startswith("  there because of specs/mnist-train.yaml:")
    assert origin.endswith(" spec.sampleSetRef.wait.until")


def test_a_default_of_the_platform(repo: Path) -> None:
    done = run(f"{repo}/{JOB}", "--repo", str(repo), "--json")
    entries = {each["pointer"]: each for each in json.loads(done.output)}
    (port,) = (each for each in entries.values() if each["value"] == "36000")
    assert [(each["field"], each["default"]) for each in port["origins"]] == [("paddle.basePort", True)]


def test_a_name_that_ends_in_a_hash(repo: Path) -> None:
    first, origin, rule = value(repo, f"{JOB}#/metadata/name")
    assert first.startswith("/metadata/name: mnist-train-paddlejob-worker-")
    assert origin == "  made from specs/mnist-train.yaml:7:9 metadata.name"
    assert rule.startswith("  rule run-hash: ")


def test_a_value_inside_a_json_string(repo: Path) -> None:
    place = "out/ml/sampleset-mnist/configmap-mnist-sampleset-runtime.yaml#/data/config.json#/cacheSizeMiB"
    assert value(repo, place) == [
        "/data/config.json#/cacheSizeMiB: 2048",
        "  copied from specs/mnist.yaml:20:20 spec.cache.levels[0].cacheSize",
    ]


def test_a_line(repo: Path) -> None:
    done = run(f"{repo}/specs/mnist.yaml:20", "--repo", str(repo))
    assert done.output.splitlines() == [
        "specs/mnist.yaml:20:20 spec.cache.levels[0].cacheSize: 2048",
        "  _cluster/persistentvolume-ml.mnist.yaml",
        "    /spec/mountOptions/1: cache-size=2048",
        "  ml/paddlejob-mnist-train/configmap-mnist-train-paddlejob-gate.yaml",
        "    /data/config.json#/waits/0/spec: b0a2dddde7ff636ce0eebba0299f2f9b",
        "  ml/sampleset-mnist/configmap-mnist-sampleset-runtime.yaml",
        "    /data/config.json#/cacheSizeMiB: 2048",
        "    /data/config.json#/mountOptions/1: cache-size=2048",
        "  ml/sampleset-mnist/sampleset-mnist.yaml",
        "    /spec/cache/levels/0/cacheSize: 2048",
    ]


def test_a_line_that_begins_a_block(repo: Path) -> None:
    lines = run(f"{repo}/specs/mnist.yaml:17", "--repo", str(repo)).output.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "specs/mnist.yaml:18:15 spec.cache.levels[0].path: /var/cache/mnist",
        "specs/mnist.yaml:20:20 spec.cache.levels[0].cacheSize: 2048",
    ]


def test_a_line_of_the_platform_file(repo: Path) -> None:
    lines = run(f"{repo}/stowplan.yaml:8", "--repo", str(repo)).output.splitlines()
    assert lines[0] == "stowplan.yaml:8:19 defaultNamespace: ml"
    assert "    /metadata/namespace: ml" in lines


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("out/ml/sampleset-mnist/nothing.yaml", "The specs compile to no file"),
        (f"{JOB}#/spec/nothing", "There is nothing at /spec/nothing"),
        ("specs/mnist.yaml:1", "There is no field on line 1"),
        ("specs/mnist.yaml:999", "There is no field on line 999"),
        ("specs/nothing.yaml:3", "/specs/nothing.yaml, and the specs compile to none."),
        ("out/ml/nothing.yaml:3", "/out/ml/nothing.yaml, and the specs compile to none."),
        (JOB.replace("worker", "wrker") + ":3", f"/{JOB}?"),
        (f"{JOB}:99999", "There is no field on line 99999"),
        ("specs/mnist.yaml", "Give the number of a line to see what it does, such as"),
        ("SP999", "SP999 is neither a code, nor a kind or field"),
    ],
)
def test_a_missing_value(repo: Path, what: str, words: str) -> None:
    done = run(what if what.startswith("SP") else f"{repo}/{what}", "--repo", str(repo))
    assert done.exit_code == 2
    assert words in done.output.replace("\n", " ")


def test_a_line_that_a_patch_replaces(tmp_path: Path) -> None:
    """What stands in the spec is in no output of this environment, so no field of the line is."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/one.yaml").write_text(
        "apiVersion: stowplan.dev/v1alpha1\nkind: Training\nmetadata: {name: one}\nspec:\n"
        "  framework: none\n  image: registry.example.com/one:1.0\n  command: [one]\n  numNodes: 4\n"
    )
    (tmp_path / "stowplan.yaml").write_text(
        "apiVersion: stowplan.dev/v1alpha1\nkind: Platform\nenvironments:\n- name: dev\n  patches:\n"
        "  - target: {kind: Training, name: one}\n    merge: {spec: {numNodes: 1}}\n"
    )
    done = run(f"{tmp_path}/specs/one.yaml:8", "--repo", str(tmp_path), "--env", "dev")
    assert done.exit_code == 2
    assert "Its values may come from a patch of dev." in " ".join(done.output.split())


def test_a_kept_run(tmp_path: Path) -> None:
    """The committed Job is kept when the agents' tag changes, and the explanation says so."""
    starter.write(tmp_path)
    assert command.run("synth", str(tmp_path)).exit_code == 0
    with (tmp_path / "stowplan.yaml").open("a") as file:
        file.write('images: {tag: "2"}\n')
    lines = value(tmp_path, "out/ml/dataset-mnist/job-mnist-sync.yaml#/spec/template/spec/containers/0/image")
    assert lines[1].startswith("  rule kept-run: ")


@pytest.mark.parametrize("path", [("a", 0, "b/c~d"), ("data", "config.json", "#", "x", 1), ()])
def test_pointers_lead_back(path: tuple[str | int, ...]) -> None:
    assert steps(pointer(path)) == [str(part) for part in path]


@pytest.mark.parametrize(
    ("file", "construct"),
    [
        ("speech/sampleset-librispeech/statefulset-librispeech-runtime", "speech.sampleset-librispeech/cache/{}"),
        (
            "_cluster/persistentvolume-speech.librispeech",
            "speech.sampleset-librispeech/cluster/volume/persistentvolume-speech.librispeech",
        ),
        (
            "speech/samplejob-librispeech-morning/cronjob-librispeech-morning-samplejob-0",
            "house-rules-speech/librispeech-morning/task/{}",
        ),
        ("speech/reporter/role-stowplan-reporter", "speech.reporter/access/{}"),
        ("crds/customresourcedefinition-datasets.stowplan.dev", "crds/cluster/{}"),
        ("argocd/application-extension-crds", "argocd/applications/{}"),
    ],
)
def test_the_construct_of_an_object_is_named(file: str, construct: str) -> None:
    """Of a spec in a file, of one that an extension makes, and of the platform."""
    repo, out = EXAMPLES["extension"], REPOSITORY / "out/extension"
    said = command.run("explain", f"{out}/{file}.yaml", "--repo", str(repo), "--out", str(out))
    assert said.exit_code == 0, said.output
    assert said.output.splitlines()[0] == f"construct: {construct.format(file.rpartition('/')[2])}"
