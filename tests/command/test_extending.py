"""The lines in tables that a new kind, engine, driver, place or framework edits, besides its new modules.

Each test copies the source, adds a toy to the copy, and compiles specs with it by the copy's own command. The toys are
the examples in the docstrings of the interfaces.
"""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from stowplan.agents.cache.drivers.api import Driver, Operations
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.transfer.engine import Engine
from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.library.dialects.dataset.places.place import PlaceSide
from stowplan.library.dialects.dataset.volumes.volume import Volume
from stowplan.library.dialects.shared.dialect import Dialect
from stowplan.library.drivers.api import StorageDriver
from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.gang.api import GangEngine
from stowplan.library.frameworks.api import Plugin
from stowplan.schema.drivers.volume import VolumeBlock
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.remotes.remote import RemoteModels
from tests.repositories import REPOSITORY

FOLDERS = ("schema", "library", "compiler")
PORTIONS = {"agents": "library"}
"""The folders of portions of the package that have another name."""

KINDS = "schema/stowplan/schema/kinds/table.py"
DRIVERS = "schema/stowplan/schema/drivers/table.py"
REMOTES = "schema/stowplan/schema/remotes/registry.py"
FRAMEWORKS = "schema/stowplan/schema/frameworks.py"
ENGINES = "schema/stowplan/schema/platform/engines.py"

TRAINING = """
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: words, namespace: ml}
spec:
  framework: FRAMEWORK
  image: registry.example.com/words:1
  numNodes: 2
"""

DATASET = """
---
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {name: texts, namespace: ml}
spec:
  source: SOURCE
  volume: VOLUME
"""


class Source:
    """A copy of the source. `lines` are the files of the lines that a test edited or added in existing modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        for name in FOLDERS:
            left_out = shutil.ignore_patterns("__pycache__", "crds", "json")
            shutil.copytree(REPOSITORY / name / "stowplan", folder / name / "stowplan", ignore=left_out)

    def add(self, *holders: object) -> None:
        """Add the modules that the docstrings of these interfaces have as their examples."""
        for holder in holders:
            ((name, code),) = re.findall(
                r"An example is `([\w.]+)`::\n\n((?:    .*\n|\n)+)", f"{inspect.getdoc(holder)}\n"
            )
            portion = name.split(".")[1]
            file = self.folder / PORTIONS.get(portion, portion) / f"{name.replace('.', '/')}.py"
            assert not file.exists()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(code).replace("'''", '"""'))

    def insert(self, path: str, after: str, line: str) -> None:
        """Insert a line, or a part of one, after the only place of another string."""
        file = self.folder / path
        content = file.read_text()
        assert content.count(after) == 1, f"{path} has no single {after!r}"
        file.write_text(content.replace(after, after + line))
        assert "\n" not in line.rstrip("\n")
        self.lines.append(path)

    def run(self, *words: str) -> str:
        """Run Python with the copy in place of the present source, and return what it prints."""
        path = os.pathsep.join(str(self.folder / name) for name in FOLDERS)
        environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def generate(self) -> None:
        """Write the CRDs and the editor schemas, as `make generate` does."""
        self.run("-c", "from pathlib import Path; from stowplan.compiler.generate import export; export.write(Path())")

    def configuration(self, out: Path, pattern: str) -> dict[str, Any]:
        """The configuration of an agent in the only ConfigMap of a pattern; it is written to `config.json` too."""
        (file,) = out.glob(pattern)
        (written,) = yaml.safe_load(file.read_text())["data"].values()
        (self.folder / "config.json").write_text(written)
        configuration: dict[str, Any] = json.loads(written)
        return configuration

    def synth(self, platform: str, specs: str) -> Path:
        """The output folder of a repository with these specs."""
        repository = self.folder / "repository"
        (repository / "specs").mkdir(parents=True)
        images = "images: {registry: registry.example.com/ml, tag: '1'}"
        argocd = "argocd: {repoURL: https://git.example.com/ml.git}"
        head = "apiVersion: stowplan.dev/v1alpha1\nkind: Platform"
        (repository / "stowplan.yaml").write_text("\n".join([head, images, argocd, platform]))
        (repository / "specs" / "spec.yaml").write_text(specs)
        self.run("-m", "stowplan.compiler", "synth", str(repository), "--out", str(repository / "out"))
        return repository / "out"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_an_engine_and_a_gang_engine_are_each_a_module_and_a_word(source: Source) -> None:
    source.add(JobEngine, GangEngine)
    source.insert(ENGINES, '"core", "jobset"', ', "toy"')
    source.insert(ENGINES, '"coscheduling", "kueue"', ', "toy"')
    assert source.lines == [ENGINES, ENGINES]
    out = source.synth("engines: {jobs: toy, gang: toy}", TRAINING.replace("FRAMEWORK", "torch"))
    (run,) = (out / "ml").glob("training-words/toyrun-*.yaml")
    for words in ("PET_NNODES", "toy.example.com/gang", "schedulerName: toy"):
        assert words in run.read_text()
    assert "kind: ToyRun" in (out / "argocd" / "appproject-stowplan.yaml").read_text()
    assert "toyruns" in (out / "ml" / "reporter" / "role-stowplan-reporter.yaml").read_text()


def test_a_framework_of_a_training_is_a_module_and_a_word(source: Source) -> None:
    source.add(Plugin)
    source.insert(FRAMEWORKS, '"paddle", "none"', ', "toy"')
    assert source.lines == [FRAMEWORKS]
    source.generate()
    out = source.synth("", TRAINING.replace("FRAMEWORK", "toy"))
    (job,) = (out / "ml").glob("training-words/job-*.yaml")
    for words in ("TOY_FIRST", "STOWPLAN_NUM_NODES", "wait-peers"):
        assert words in job.read_text()


CACHE = "  cache: {nodes: 2, tiers: [{path: /toys, size: 1Gi}]}\n"
S3 = "{s3: {uri: s3://texts/, anonymous: true}}"
WARMUP = """
---
apiVersion: stowplan.dev/v1alpha1
kind: DatasetTask
metadata: {name: again, namespace: ml}
spec: {datasetRef: {name: texts}, warmup: {}}
"""
SAMPLE_SET = """
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: words, namespace: ml}
spec: {noSync: true, csi: {driver: toy}, partitions: 1, secretRef: {name: toys}}
"""
MEASURE = """
from pathlib import Path
from stowplan.agents.cache.runtime.settings import settings
from stowplan.agents.runtime.arguments import Arguments

given = settings(Arguments(Path("config.json"), Path(), "text"), {"STOWPLAN_POD": "texts-0"})
print(given.driver.extent(Path("config.json").parent / "schema").files > 0)
"""


def test_a_driver_with_a_cache_is_a_module_for_each_program_and_a_row(source: Source) -> None:
    source.add(VolumeBlock, StorageDriver, Volume, Driver, Operations)
    source.insert(DRIVERS, 'Driver("pvc", field="claim"),\n', '    Driver("toy", field="toy", cached=True),\n')
    assert source.lines == [DRIVERS]
    source.generate()
    dataset = DATASET.replace("SOURCE", S3).replace("VOLUME", "{toy: {shelf: high}}") + CACHE
    out = source.synth("", dataset + WARMUP + SAMPLE_SET)
    home = out / "ml" / "dataset-texts"
    for name, handle in (("texts", "high"), ("words", "words")):
        assert f"volumeHandle: {handle}" in (out / "_cluster" / f"persistentvolume-ml.{name}.yaml").read_text()
    assert "replicas: 2" in (home / "statefulset-texts-runtime.yaml").read_text()
    assert len(list(home.glob("job-texts-warmup-*.yaml"))) == 2
    assert "Name of the shelf." in (out / "crds" / "customresourcedefinition-datasets.stowplan.dev.yaml").read_text()
    assert source.configuration(out, "ml/datasettask-again/configmap-*-warmup.yaml")["driver"] == "toy"
    assert "All toys in /data are warm" in source.run(
        "-m", "stowplan.agents.cache", "warmup", "--config", "config.json"
    )
    assert source.configuration(out, "ml/dataset-texts/configmap-*-runtime.yaml")["driver"] == "toy"
    assert source.run("-c", MEASURE) == "True\n"


PLACE = "{toy: {path: words, shelf: 3, secretRef: {name: toys}}}"
COPY = """
---
apiVersion: stowplan.dev/v1alpha1
kind: DatasetTask
metadata: {name: away, namespace: ml}
spec: {datasetRef: {name: texts}, copy: {to: PLACE}}
"""
OUTPUTS = """  checkpoints: {claim: {name: kept}}
  outputs: [{path: /checkpoints, to: PLACE}]
"""
DATA_CUBE = """
---
apiVersion: tensorstack.dev/v1beta1
kind: DataCube
metadata: {name: words, namespace: ml}
spec:
  source:
    type: toy
    toy: {shelf: 3}
    options:
    - {name: toy-path, value: words}
    - {name: toy-key, valueFrom: {secretKeyRef: {name: toys, key: key}}}
  sink: {type: pvc, pvc: {name: words}}
"""
TRANSFER = """
from stowplan.agents.transfer.engine import engine
from stowplan.agents.transfer.settings import secrets, settings
from stowplan.schema.agents.transfer_config import TransferConfig

config = TransferConfig.model_validate_json(open("config.json").read())
assert type(engine(settings(config, {}))).__name__ == "ToyEngine"
assert secrets(config, {"TOY_KEY": "s3cret"}).count("s3cret") > 0
"""


def test_a_place_is_a_module_for_each_program_and_a_word(source: Source) -> None:
    """The images of agents hold no compiler, and the compiler no engine: so there is a module for each of them."""
    source.add(RemoteModels, PlaceSide, Remote, Engine)
    source.insert(REMOTES, 'Literal["s3", "huggingface", "git"', ', "toy"')
    assert source.lines == [REMOTES]
    source.generate()
    dataset = DATASET.replace("SOURCE", PLACE).replace("VOLUME", "{claim: {name: texts}}")
    training = TRAINING.replace("FRAMEWORK", "none") + OUTPUTS.replace("PLACE", PLACE)
    out = source.synth("", training + dataset + COPY.replace("PLACE", PLACE) + DATA_CUBE)
    for pattern, side in (
        ("ml/dataset-texts/configmap-*.yaml", "source"),
        ("ml/datasettask-away/configmap-*.yaml", "sink"),
        ("ml/training-words/configmap-*output*.yaml", "sink"),
        ("ml/datacube-words/configmap-*.yaml", "source"),
    ):
        assert source.configuration(out, pattern)[side]["shelf"] == 3
        source.run("-c", TRANSFER)
    for plural in ("datasets.stowplan.dev", "datasettasks.stowplan.dev", "datacubes.tensorstack.dev"):
        assert "Number of the shelf." in (out / "crds" / f"customresourcedefinition-{plural}.yaml").read_text()
    editor = json.loads((source.folder / "schema/json/dataset.schema.json").read_text())
    assert {"required": ["toy"]} in editor["properties"]["spec"]["properties"]["source"]["oneOf"]


REPORT = """
from stowplan.agents.cluster.place import collection
from stowplan.agents.reporter.objects import resources
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules import registry

labels = {"stowplan.dev/kind": "ToyTraining", "stowplan.dev/name": "words"}
manifest = {"metadata": {"name": "words", "uid": "1", "resourceVersion": "1", "labels": labels}, "spec": {"nodes": 2}}
seen = Observed(resources.resource(manifest, "ml", "ToyTraining", registry.RULES["ToyTraining"].observed))
assert seen.resource.spec == {"nodes": 2}
assert registry.status(seen) == {"phase": "Running"}
assert collection("ToyTraining", "ml") == "/apis/toy.example.com/v1/namespaces/ml/toytrainings"
"""

TOY_TRAINING = """
apiVersion: toy.example.com/v1
kind: ToyTraining
metadata: {name: words, namespace: ml}
spec: {nodes: 2, image: "registry.example.com/words:1"}
"""


def test_a_kind_is_a_model_a_dialect_rules_and_a_row(source: Source) -> None:
    source.add(CustomResource, Dialect, Rules)
    row = '    Kind("ToyTraining", "toy.example.com/v1", trains=True),\n'
    source.insert(KINDS, '"paddlepaddle.org/v1alpha1", trains=True),\n', row)
    assert source.lines == [KINDS]
    source.generate()
    source.run("-c", REPORT)
    out = source.synth("", TOY_TRAINING)
    (job,) = (out / "ml").glob("toytraining-words/job-*.yaml")
    assert "registry.example.com/words:1" in job.read_text()
    assert (out / "ml" / "toytraining-words" / "toytraining-words.yaml").exists()
    assert (out / "crds" / "customresourcedefinition-toytrainings.toy.example.com.yaml").exists()
    assert "kind: ToyTraining" in (out / "argocd" / "appproject-stowplan.yaml").read_text()
    assert "toytrainings/status" in (out / "ml" / "reporter" / "role-stowplan-reporter.yaml").read_text()
