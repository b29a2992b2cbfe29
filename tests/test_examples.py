"""The examples: `out/` equals their compiled output, which keeps all rules, and the kitchen sink uses every field."""

import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from runpy import run_path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
import yaml
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.write import write
from stowplan.schema.frameworks import FrameworkName
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from stowplan.schema.kinds.native.training import Training, TrainingSpec
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.meta import Model
from stowplan.schema.platform.platform import Platform
from tests.invariants import broken
from tests.repositories import CASES, EXAMPLES, OUTPUTS, REPOSITORY, example
from tests.unit.outputs import files, in_one_file, rendered

OUT = REPOSITORY / "out"
HOW = "run `make generate` and commit the result"

KITCHEN_SINK = [DataCube, Dataset, DatasetTask, MxJob, PaddleJob, Platform, SampleJob, SampleSet, Training, TrainingJob]
UNUSED = {
    "Platform.argocd.destination.name": "a destination has a name or a server; the kitchen sink has a server",
    **{
        f"PaddleJob.spec.{role}.{key}": "it never had an effect, which is a warning"
        for role in ("ps", "worker", "heter")
        for key in ("requests", "limits")
    },
    **{
        f"TrainingJob.spec.{key}": "it never had an effect, which is a warning"
        for key in ("mountpath", "nfsmount", "matrix", "annotations.userid", "annotations.usergroupid")
    },
    "TrainingJob.spec.trainer.etcd-endpoint": "only the master's is read",
    "TrainingJob.spec.local_job": "`frame_work` decides where it is given",
    "TrainingJob.spec.is_nccl": "`frame_work` decides where it is given",
    "TrainingJob.spec.podGroupName": "the kitchen sink has a gang engine",
    "DataCube.spec.source.pvc.template": "a source must hold data already",
    "DataCube.spec.source.s3.createBucket": "it acts on a sink",
    "DataCube.spec.sink.s3.acceptUnverified": "it acts on a source",
    "DataCube.spec.sink.s3.verifyParts": "it acts on a source",
    "DataCube.spec.sink.pvc.readOnly": "a sink is written to",
    "DataCube.spec.sink.pvc.links": "it acts on a source",
    **{f"DataCube.spec.sink.git.{key}": "it acts on a source" for key in ("depth", "submodules")},
    "MxJob.spec.RuntimeId": "it is only a label, and its default is better",
}
"""Fields that the kitchen sink leaves out, and why."""

UNUSED_BELOW = {
    "Dataset.spec.volume.juicefs.options.": "those of SampleSet, whose specs have all",
    "Dataset.spec.source.git.include": "a repository is copied as a whole",
    "Dataset.spec.source.git.exclude": "a repository is copied as a whole",
    "DatasetTask.spec.copy.to.git.ref": "the branch is the one that is checked out",
    "Platform.environments[].": "the example `environments` has them",
    "Training.spec.scheduling.topology.": "it needs Kueue",
    "Training.spec.scheduling.exclusive": "it needs JobSet",
    "Training.spec.restart.": "it needs JobSet; the example `training` has it",
    "Training.spec.outputs[].to.git.ref": "the branch is the one that is checked out",
}
"""The same, by the beginnings of their paths."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_out_is_what_the_example_compiles_to(name: str, tmp_path: Path) -> None:
    """A fresh compilation, so runs that `synth` would keep from an older compiler fail here too."""
    write(rendered(example(name).outputs), tmp_path, Inventory(), Report())
    compiled, committed = files(tmp_path), files(OUT / name)
    assert sorted(committed) == sorted(compiled), HOW
    assert [path for path in compiled if compiled[path] != committed[path]] == [], HOW


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_rule_is_kept(name: str) -> None:
    result = example(name)
    assert broken(name, result) == []
    delivered = any(output.manifest.kind == "Application" for output in result.outputs)
    assert delivered, "each says where its output is committed"


PROGRAMS = {path.parent.name: path for path in sorted(REPOSITORY.glob("examples/*/main.py"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_out_is_what_the_program_writes(name: str, tmp_path: Path) -> None:
    run_path(str(PROGRAMS[name]))["build"](str(tmp_path / "out")).synth()
    assert files(tmp_path / "out") == files(OUT / name), HOW


def test_out_holds_nothing_else() -> None:
    assert sorted(path.name for path in OUT.iterdir()) == sorted({*EXAMPLES, *PROGRAMS})
    inventories = sorted(path.parent.relative_to(OUT).as_posix() for path in OUT.rglob("_inventory"))
    assert inventories == sorted({*OUTPUTS, *PROGRAMS})


@pytest.mark.parametrize("name", EXAMPLES)
def test_check_finds_the_output_up_to_date(name: str) -> None:
    result = CliRunner().invoke(app, ["synth", str(EXAMPLES[name]), "--out", str(OUT / name), "--check"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", ["environments", "kitchen-sink"])
def test_the_inventory_of_0_1_0_is_taken_over_and_nothing_runs_again(name: str, tmp_path: Path) -> None:
    out = shutil.copytree(OUT / name, tmp_path / "out")
    before = files(out)
    for folder in [path.parent for path in out.rglob("_inventory")]:
        in_one_file(folder)
    result = CliRunner().invoke(app, ["synth", str(EXAMPLES[name]), "--out", str(out)])
    assert (result.exit_code, "starts when synced" in result.output) == (0, False), result.output
    assert files(out) == before


def test_clusters_of_the_example_of_environments_differ_only_in_what_argo_cd_reads() -> None:
    one, other = (files(OUT / "environments/prod" / name) for name in ("prod-a", "prod-b"))
    there = {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}
    assert {path.partition("/")[0] for path in there} == {"argocd", "_inventory"}


@pytest.mark.parametrize("kind", KITCHEN_SINK)
def test_kitchen_sink_uses_every_field(kind: type[Model]) -> None:
    there = {f"{kind.__name__}.{path}" for path in fields(kind)}
    used = {f"{kind.__name__}.{path}" for document in kitchen_sink(kind) for path in given(document)}
    reasoned = {path for path in UNUSED if path.startswith(f"{kind.__name__}.")}
    reasoned |= {path for path in there if path.startswith(tuple(UNUSED_BELOW))}
    assert there - used == reasoned


def test_kitchen_sink_has_a_job_of_each_type() -> None:
    assert {job["spec"]["type"] for job in kitchen_sink(SampleJob)} == {"sync", "warmup", "rmr", "clear"}


@pytest.mark.parametrize("framework", ["jax", "xgboost"])
def test_a_program_needs_the_same_lines_wherever_they_are_shown(framework: str) -> None:
    """In the example, in the case, at the plug-in, and in what `stowplan explain training.spec.framework` says."""
    shown = code(EXAMPLES["training"] / f"specs/{framework}.yaml", "#   ")
    assert shown == code(CASES[f"training-{framework}"], "#   ")
    assert shown == code(REPOSITORY / f"library/stowplan/library/frameworks/{framework}.py", "    ", len(shown))
    description = TrainingSpec.model_fields["framework"].description or ""
    arguments = re.findall(r"\b(\w+=)", "".join(shown))
    assert [each for each in arguments if each not in description] == []
    assert len(arguments) >= 2


def code(file: Path, indent: str, lines: int | None = None) -> list[str]:
    """Return the first lines with this indent. They begin with the first one that has it."""
    marked = [line.removeprefix(indent) for line in file.read_text().splitlines() if line.startswith(indent)]
    return marked[:lines]


@pytest.mark.parametrize("framework", get_args(FrameworkName))
def test_there_is_an_example_of_each_framework(framework: str) -> None:
    files = sorted((EXAMPLES["training"] / "specs").glob("*.yaml"))
    documents = [each for file in files for each in yaml.safe_load_all(file.read_text())]
    assert framework in {each["spec"].get("framework") for each in documents}


def fields(kind: type[Model]) -> Iterator[str]:
    """The path of every field that holds no further model, by the keys that users write; `[]` for list items."""
    for name, field in kind.model_fields.items():
        key = field.alias or name
        below = list(_models(field.annotation))
        if not below:
            yield key
        for model, in_list in below:
            yield from (f"{key}{'[]' if in_list else ''}.{path}" for path in fields(model))


def _models(annotation: Any, *, in_list: bool = False) -> Iterator[tuple[type[Model], bool]]:
    if isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, Model):
        yield annotation, in_list
    elif get_origin(annotation) in (list, Union, UnionType):
        inside = in_list or get_origin(annotation) is list
        for argument in get_args(annotation):
            yield from _models(argument, in_list=inside)


def given(value: Any, path: str = "") -> Iterator[str]:
    """Every path in plain data, in the same form."""
    if path:
        yield path.removeprefix(".")
    if isinstance(value, dict):
        for key, below in value.items():
            yield from given(below, f"{path}.{key}")
    elif isinstance(value, list):
        for below in value:
            yield from given(below, f"{path}[]")


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    paths = [EXAMPLES["kitchen-sink"] / "stowplan.yaml", *sorted(EXAMPLES["kitchen-sink"].glob("specs/*.yaml"))]
    return tuple(document for path in paths for document in yaml.safe_load_all(path.read_text()))


def kitchen_sink(kind: type[Model]) -> list[dict[str, Any]]:
    return [document for document in _documents() if document["kind"] == kind.__name__]
