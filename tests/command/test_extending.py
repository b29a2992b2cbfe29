"""The number of edits for a new kind, engine, driver, remote or framework, besides the new modules.

Each test copies the source, adds a toy to the copy, and compiles a spec with it by the copy's own command.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from tests.repositories import REPOSITORY

FOLDERS = ("schema", "library", "compiler")
ENGINES = "schema/stowplan/schema/platform/engines.py"
PADDLE_JOB = """
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: words, namespace: ml}
spec:
  worker:
    replicas: 2
    template: {spec: {containers: [{name: main, image: registry.example.com/words:1}]}}
"""


class Source:
    """A copy of the source. `edited` are the existing files that a test changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.edited: set[str] = set()
        for name in FOLDERS:
            left_out = shutil.ignore_patterns("__pycache__", "crds", "json")
            shutil.copytree(REPOSITORY / name / "stowplan", folder / name / "stowplan", ignore=left_out)

    def add(self, path: str, content: str) -> None:
        """Add a module."""
        file = self.folder / path
        assert not file.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(content))

    def insert(self, path: str, after: str, line: str) -> None:
        """Insert a string after the only place of another one."""
        file = self.folder / path
        content = file.read_text()
        assert content.count(after) == 1, f"{path} has no single {after!r}"
        file.write_text(content.replace(after, after + line))
        self.edited.add(path)

    def run(self, *words: str) -> None:
        """Run Python with the copy in place of the present source."""
        path = os.pathsep.join(str(self.folder / name) for name in FOLDERS)
        environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def generate(self) -> None:
        """Write the CRDs and the editor schemas, as `make generate` does."""
        self.run("-c", "from pathlib import Path; from stowplan.compiler.generate import export; export.write(Path())")

    def generate_crds(self) -> None:
        """Write the CRDs that the compiler ships."""
        program = "from stowplan.compiler.generate import export; export.write_files(Path(sys.argv[1]), export.data())"
        self.run("-c", f"import sys; from pathlib import Path; {program}", "schema/stowplan/schema/generated")

    def synth(self, platform: str, spec: str) -> Path:
        """The output folder of a repository with one spec."""
        repository = self.folder / "repository"
        (repository / "specs").mkdir(parents=True)
        images = "images: {registry: registry.example.com/ml, tag: '1'}"
        argocd = "argocd: {repoURL: https://git.example.com/ml.git}"
        head = "apiVersion: stowplan.dev/v1alpha1\nkind: Platform"
        (repository / "stowplan.yaml").write_text("\n".join([head, images, argocd, platform]))
        (repository / "specs" / "spec.yaml").write_text(spec)
        self.run("-m", "stowplan.compiler", "synth", str(repository), "--out", str(repository / "out"))
        return repository / "out"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


JOB_ENGINE = '''
    """One object of a toy controller for each job."""

    from stowplan.library.builders.metadata import Part, metadata
    from stowplan.library.engines import indexed
    from stowplan.library.engines.api import JobEngine
    from stowplan.library.engines.gang.pod_group import SKIP_DRY_RUN
    from stowplan.library.engines.kinds import EngineKind
    from stowplan.library.ir.training import with_hosts
    from stowplan.library.manifest import Manifest
    from stowplan.library.values.names import BLANK_RUN

    TOY = EngineKind("toy.example.com", "v1", "ToyRun", "toyruns", pods=("spec", "roles", "*", "template"), starts=True)


    class ToyEngine:
        name = "toy"
        kinds = (TOY,)
        splits = False
        attempts = None
        offers = frozenset()

        def hosts(self, group, run):
            return indexed.hosts(group, group.roles, run)

        def pods(self, group, environments, gang, site, run):
            return indexed.pods(group, environments, gang, site, run, peers=self.hosts(group, run))

        def run(self, group, environments, gang, site):
            return "abcdefgh"

        def manifests(self, group, environments, gang, site):
            run = self.run(group, environments, gang, site)
            own = with_hosts(environments, self.hosts(group, BLANK_RUN), self.hosts(group, run))
            pods = self.pods(group, own, gang, site, run)
            name = f"{group.names.base}-{run}"
            meta = metadata(TOY.kind, name, Part(group.origin, "group", annotations=SKIP_DRY_RUN))
            roles = [{"name": role, "template": template} for role, template in pods.items()]
            body = {"apiVersion": TOY.api_version, "kind": TOY.kind, "metadata": meta, "spec": {"roles": roles}}
            return [Manifest(body, stem=group.names.base, run=True)]


    ENGINE: JobEngine = ToyEngine()
'''


GANG_ENGINE = '''
    """A toy scheduler that reads a label."""

    from stowplan.library.engines.gang.api import GangEngine, PodMarks, WorkloadMarks


    class ToyGang:
        name = "toy"
        kinds = ()
        resizes = False
        suspends = False
        prioritizes = False
        offers = frozenset()

        def validate(self, group, platform, *, splits):
            return []

        def pod(self, group, role, site, run):
            return PodMarks(labels={"toy.example.com/gang": group.names.group(run)}, scheduler="toy")

        def workload(self, group, site):
            return WorkloadMarks()

        def manifests(self, group, pods, site, run):
            return []

        def externals(self, group, site):
            return []

        def shared_fields(self):
            return ()


    ENGINE: GangEngine = ToyGang()
'''


def test_an_engine_is_a_module_and_its_name(source: Source) -> None:
    source.add("library/stowplan/library/engines/toy.py", JOB_ENGINE)
    source.insert(ENGINES, '"core", "jobset"', ', "toy"')
    source.add("library/stowplan/library/engines/gang/toy.py", GANG_ENGINE)
    source.insert(ENGINES, '"coscheduling", "kueue"', ', "toy"')
    assert source.edited == {ENGINES}
    out = source.synth("engines: {jobs: toy, gang: toy}", PADDLE_JOB)
    (run,) = (out / "ml").glob("paddlejob-words/toyrun-*.yaml")
    for words in ("PADDLE_TRAINERS_NUM", "toy.example.com/gang", "schedulerName: toy"):
        assert words in run.read_text()
    assert "kind: ToyRun" in (out / "argocd" / "appproject-stowplan.yaml").read_text()
    assert "toyruns" in (out / "ml" / "reporter" / "role-stowplan-reporter.yaml").read_text()


DRIVER = '''
    """Claims of a toy storage class."""

    from stowplan.library.builders.volume import claim_from_template
    from stowplan.library.drivers.api import StorageDriver, TaskSet


    class ToyDriver:
        name = "toy"
        cached = False

        def validate(self, dataset, site):
            return []

        def validate_task(self, task, site):
            return []

        def cache_directories(self, dataset, site):
            return ()

        def volume(self, dataset, site):
            resources = {"requests": {"storage": "1Gi"}}
            spec = {"accessModes": ["ReadWriteMany"], "resources": resources, "storageClassName": "toy"}
            return [claim_from_template(dataset.claim.name, dataset.origin, {"spec": spec})]

        def near(self, dataset, *, required):
            return {}

        def runtime(self, dataset, site, service_account):
            return []

        def tasks(self, task, site, service_account):
            raise NotImplementedError


    DRIVER: StorageDriver = ToyDriver()
'''

SAMPLE_SET = """
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: words, namespace: ml}
spec: {noSync: true, csi: {driver: toy}}
"""


def test_a_driver_is_a_module_and_its_name(source: Source) -> None:
    kind = "schema/stowplan/schema/kinds/sample_set.py"
    source.add("library/stowplan/library/drivers/toy.py", DRIVER)
    source.insert(kind, 'Literal["juicefs", "pvc"', ', "toy"')
    source.generate_crds()
    out = source.synth("", SAMPLE_SET)
    claim = out / "ml" / "sampleset-words" / "persistentvolumeclaim-words.yaml"
    assert "storageClassName: toy" in claim.read_text()
    assert source.edited == {kind}


MODELS = '''
    """Toy stores, as sides of a transfer."""

    from typing import ClassVar, Literal

    from pydantic import Field

    from stowplan.schema.meta import Model
    from stowplan.schema.remotes.remote import RemoteEndpoint, RemoteModels


    class ToyEndpoint(RemoteEndpoint):
        """A path in a toy store."""

        SECRETS: ClassVar[frozenset[str]] = frozenset({"key_env"})

        type: Literal["toy"] = Field(default="toy", description="What it is.")
        path_env: str = Field(description="Variable with the path.", max_length=64)
        key_env: str | None = Field(default=None, description="Variable with the key.", max_length=64)
        shelf: int = Field(default=0, description="Number of the shelf.")


    class ToySettings(Model):
        """How a toy store is used."""

        shelf: int | None = Field(default=None, description="Number of the shelf.")


    REMOTE = RemoteModels(ToyEndpoint, ToySettings, "How the store is used, for `toy`.")
'''

REMOTE = '''
    """Toy stores as a side of a DataCube."""

    from stowplan.library.dialects.data_cube.options import Option
    from stowplan.library.dialects.data_cube.remotes.remote import Remote
    from stowplan.schema.remotes.toy import ToyEndpoint, ToySettings


    def _endpoint(remote):
        shelf = remote.block(ToySettings).shelf or 0
        return ToyEndpoint(pathEnv=remote.env("toy-path"), keyEnv=remote.env("toy-key"), shelf=shelf)


    REMOTE = Remote(_endpoint, {"toy-path": Option(required=True), "toy-key": Option(secret=True)})
'''

TRANSFER = '''
    """Transfers with toy stores."""


    class ToyEngine:
        def __init__(self, settings):
            self.settings = settings


    def make_engine(settings):
        return ToyEngine(settings)
'''

ENGINE_OF_TRANSFER = """
from stowplan.agents.transfer.registry import engine
from stowplan.agents.transfer.settings import secrets, settings
from stowplan.schema.agents.transfer_config import TransferConfig

config = TransferConfig.model_validate_json(open("config.json").read())
assert type(engine(settings(config, {}))).__name__ == "ToyEngine"
assert config.source.shelf == 3
assert secrets(config, {"TOY_KEY": "s3cret"}).count("s3cret") > 0
"""

DATA_CUBE = """
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


def test_a_remote_is_a_module_for_each_program_and_its_name(source: Source) -> None:
    """The images of agents hold no compiler, and the compiler no engine: so there is a module for each of them."""
    names = "schema/stowplan/schema/remotes/registry.py"
    source.add("schema/stowplan/schema/remotes/toy.py", MODELS)
    source.add("library/stowplan/library/dialects/data_cube/remotes/toy.py", REMOTE)
    source.add("library/stowplan/agents/transfer/remotes/toy.py", TRANSFER)
    source.insert(names, 'Literal["git", "huggingface", "s3"', ', "toy"')
    source.generate_crds()
    out = source.synth("", DATA_CUBE)
    (config,) = (out / "ml" / "datacube-words").glob("configmap-*.yaml")
    (written,) = yaml.safe_load(config.read_text())["data"].values()
    (source.folder / "config.json").write_text(written)
    source.run("-c", ENGINE_OF_TRANSFER)
    definition = out / "crds" / "customresourcedefinition-datacubes.tensorstack.dev.yaml"
    assert "Number of the shelf." in definition.read_text()
    assert source.edited == {names}


FRAMEWORK = '''
    """Variables of a toy framework."""

    from stowplan.library.ir.training import Environment, Peer


    class Toy:
        name = "toy"

        def environments(self, group, hosts):
            first = {"name": "TOY_FIRST", "value": hosts["worker"].of(0)}
            return {role.name: Environment((first,)) for role in group.roles}

        def peers(self, group, role):
            return (Peer("worker"),)

        def readmits(self, group):
            return False
'''

MODEL = '''
    """`ToyTraining`: training with a toy framework."""

    from typing import Any, ClassVar, Literal

    from pydantic import Field

    from stowplan.schema.kinds.conditions import Conditions
    from stowplan.schema.kinds.custom_resource import AGE, Column, CustomResource, SpecFields
    from stowplan.schema.meta import Model, ObjectMeta


    class ToySpec(Model):
        """What trains."""

        nodes: int = Field(description="Number of pods.", ge=1, le=100)
        image: str = Field(description="Image of the pods.", max_length=512)


    class ToyStatus(Model):
        """What was observed."""

        phase: str | None = Field(default=None, description="`Running` or `Done`.")
        conditions: Conditions | None = Field(default=None, description="Standard conditions.")


    class ToyTraining(CustomResource):
        """Training with a toy framework."""

        PLURAL: ClassVar[str] = "toytrainings"
        COLUMNS: ClassVar[tuple[Column, ...]] = (AGE,)
        STATUS: ClassVar[type[Model]] = ToyStatus
        TRAINS: ClassVar[bool] = True
        OBSERVED: ClassVar[SpecFields] = {"nodes": None}

        api_version: Literal["toy.example.com/v1"] = Field(description="Version of this kind.")
        kind: Literal["ToyTraining"] = Field(description="Always `ToyTraining`.")
        metadata: ObjectMeta = Field(description="Name, namespace, labels and annotations.")
        spec: ToySpec = Field(description="What trains.")
'''

DIALECT = '''
    """The dialect of the kind ToyTraining."""

    from stowplan.library.dialects.shared.context import Lowered
    from stowplan.library.dialects.shared.dialect import Dialect, Relations
    from stowplan.library.dialects.training_group.unit import environments, unit
    from stowplan.library.frameworks.registry import FRAMEWORKS
    from stowplan.library.ir.data import Origin
    from stowplan.library.ir.training import Role, TrainingGroup
    from stowplan.library.values.names import TrainingNames
    from stowplan.schema.meta import SpecId


    def lower(model, context):
        identity = SpecId("ToyTraining", context.namespace(model.metadata.namespace), model.metadata.name)
        template = {"spec": {"containers": [{"name": "main", "image": model.spec.image}]}}
        group = TrainingGroup(
            origin=Origin(identity, ""),
            names=TrainingNames(identity.name, "toytraining"),
            framework=FRAMEWORKS["toy"](),
            roles=(Role("worker", model.spec.nodes, template, decides=True),),
        )
        return Lowered(unit(model, group, environments(group, context), context))


    DIALECT = Dialect(lower, lambda model, context: Relations())
'''

RULES = '''
    """The status of a ToyTraining."""

    FIELDS = frozenset({"phase"})


    def status(seen):
        return {"phase": "Done" if any(job.completed for job in seen.jobs) else "Running"}
'''

REPORT = """
from stowplan.agents.reporter.objects import resources, workloads
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.rules import registry

(kind,) = (each for each in resources.KINDS if each.kind == "ToyTraining")
labels = {"stowplan.dev/kind": "ToyTraining", "stowplan.dev/name": "words"}
manifest = {"metadata": {"name": "words", "uid": "1", "resourceVersion": "1", "labels": labels}, "spec": {"nodes": 2}}
seen = Observed(resources.resource(manifest, "ml", kind))
assert seen.resource.spec == {"nodes": 2}
assert registry.status(seen) == {"phase": "Running"}
assert kind.served.collection("ml") == "/apis/toy.example.com/v1/namespaces/ml/toytrainings"
"""

TOY_TRAINING = """
apiVersion: toy.example.com/v1
kind: ToyTraining
metadata: {name: words, namespace: ml}
spec: {nodes: 2, image: "registry.example.com/words:1"}
"""


def test_a_kind_is_a_model_a_dialect_and_rules_in_three_tables_and_a_framework_is_in_one(source: Source) -> None:
    table = "schema/stowplan/schema/kinds/table.py"
    dialects = "library/stowplan/library/dialects/registry.py"
    rules = "library/stowplan/agents/reporter/rules/registry.py"
    frameworks = "library/stowplan/library/frameworks/registry.py"
    source.add("library/stowplan/library/frameworks/toy.py", FRAMEWORK)
    source.insert(frameworks, "import PaddleLegacy\n", "from stowplan.library.frameworks.toy import Toy\n")
    source.insert(frameworks, '"paddle-legacy": PaddleLegacy', ', "toy": Toy')
    source.add("schema/stowplan/schema/kinds/toy_training.py", MODEL)
    source.insert(table, "import SampleSet\n", "from stowplan.schema.kinds.toy_training import ToyTraining\n")
    source.insert(table, "    TrainingJob,\n", "    ToyTraining,\n")
    source.add("library/stowplan/library/dialects/toy_training.py", DIALECT)
    source.insert(dialects, "import Dialect\n", "from stowplan.library.dialects import toy_training\n")
    source.insert(dialects, '"TrainingJob": training_job.DIALECT,\n', '    "ToyTraining": toy_training.DIALECT,\n')
    source.add("library/stowplan/agents/reporter/rules/toy_training.py", RULES)
    source.insert(rules, "    training_job,\n", "    toy_training,\n")
    source.insert(rules, '"TrainingJob": training_job,\n', '    "ToyTraining": toy_training,\n')
    assert source.edited - {frameworks} == {table, dialects, rules}

    source.generate()
    source.run("-c", REPORT)
    out = source.synth("", TOY_TRAINING)
    (job,) = (out / "ml").glob("toytraining-words/job-*.yaml")
    assert "TOY_FIRST" in job.read_text()
    assert (out / "ml" / "toytraining-words" / "toytraining-words.yaml").exists()
    assert (out / "crds" / "customresourcedefinition-toytrainings.toy.example.com.yaml").exists()
    assert "kind: ToyTraining" in (out / "argocd" / "appproject-stowplan.yaml").read_text()
    assert "toytrainings/status" in (out / "ml" / "reporter" / "role-stowplan-reporter.yaml").read_text()
