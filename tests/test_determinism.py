"""The same specs give the same bytes on every machine, in every process and in any order."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs, before a test changes folder
from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.write import write
from tests.repositories import EXAMPLES, example, synthesised
from tests.unit.compiler.yaml.test_emitter import AMBIGUOUS
from tests.unit.outputs import files, rendered

STOWPLAN = Path(sys.executable).with_name("stowplan")

WORDS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "words", "namespace": "ml"},
    "data": {f"word-{index}": word for index, word in enumerate(AMBIGUOUS)},
}
SMALL = {
    "stowplan.yaml": "argocd: {repoURL: https://git.example.com/ml/data.git}\nimages: {tag: '1'}\n"
    "passThrough: [{kind: ConfigMap}]\n",
    "specs/b/Ä.yaml": """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: second, namespace: ml}
spec: {partitions: 2, secretRef: {name: volume}, source: {uri: "s3://b.s3.eu-central-1.amazonaws.com/Ä/"}}
""",
    "specs/a.yaml": """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: first, namespace: ml, labels: {b: "1", a: "2"}}
spec: {partitions: 1, secretRef: {name: volume}, noSync: true}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: work, namespace: ml}
spec: {type: clear, sampleSetRef: {name: first}}
""",
    "specs/words.yaml": yaml.safe_dump(WORDS, default_style='"'),
}


def lay_out(repo: Path, contents: dict[str, str]) -> Path:
    for path, text in contents.items():
        target = repo / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return repo


def synth(*arguments: str, cwd: Path, **environment: str) -> None:
    """The command as a user runs it, Node and all, in an environment that holds nothing else."""
    path = os.pathsep.join([str(STOWPLAN.parent), "/usr/bin", "/bin"])
    subprocess.run(
        [STOWPLAN, "synth", *arguments],
        cwd=cwd,
        env={"PATH": path, "HOME": str(cwd), **environment},
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    repo = lay_out(tmp_path_factory.mktemp("repo"), SMALL)
    synth(".", cwd=repo, PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8")
    return files(repo / "out")


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONOPTIMIZE": "2"},
        {"PYTHONHASHSEED": "4294967295", "TZ": "America/New_York", "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
    ids=["east", "west", "bytes"],
)
def test_environment(environment: dict[str, str], expected: dict[str, bytes], tmp_path: Path) -> None:
    repo = lay_out(tmp_path / "repo", SMALL)
    synth(".", cwd=repo, **environment)
    assert files(repo / "out") == expected


def test_place_and_way_of_naming_it(
    expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = lay_out(tmp_path / "another place" / "répo", SMALL)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder, place, out in (("/", str(repo), str(elsewhere / "a")), (elsewhere, "../another place/./répo/", "b")):
        monkeypatch.chdir(folder)
        assert CliRunner().invoke(app, ["synth", place, "--out", out], catch_exceptions=False).exit_code == 0
    assert files(elsewhere / "a") == files(elsewhere / "b") == expected


def test_order_of_creation(expected: dict[str, bytes], tmp_path: Path) -> None:
    repo = lay_out(tmp_path, dict(reversed(SMALL.items())))
    assert compiled(repo, tmp_path / "out") == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_order_of_files_and_keys(name: str, tmp_path: Path) -> None:
    order = random.Random(name)  # noqa: S311 - no secret
    sources = [path for path in sorted(EXAMPLES[name].rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    order.shuffle(sources)
    for path in sources:
        target = tmp_path / "repo" / path.relative_to(EXAMPLES[name])
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".yaml":
            documents = [shuffled(document, order) for document in yaml.safe_load_all(path.read_text())]
            target.write_text(yaml.safe_dump_all(documents, sort_keys=False))
        else:
            shutil.copy(path, target)
    write(rendered(example(name).outputs), tmp_path / "expected", Inventory(), Report())
    assert compiled(tmp_path / "repo", tmp_path / "out") == files(tmp_path / "expected")


def compiled(repo: Path, out: Path) -> dict[str, bytes]:
    report = Report()
    write(synthesised(repo, out, report).files, out, Inventory(), report)
    assert not report.failed
    return files(out)


def shuffled(data: Any, order: random.Random) -> Any:
    """Plain data with the keys of every mapping in another order."""
    if isinstance(data, dict):
        items = [(key, shuffled(value, order)) for key, value in data.items()]
        order.shuffle(items)
        return dict(items)
    return [shuffled(each, order) for each in data] if isinstance(data, list) else data
