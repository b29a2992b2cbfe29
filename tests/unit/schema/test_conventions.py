"""Conventions of all models: descriptions, names, and limits for every field without a listed exception."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

import stowplan.schema
from stowplan.schema.meta import KubernetesType, Model, kubernetes_type

FREE_MAPPINGS = {
    "ObjectMeta.labels": "Kubernetes: keys are the users'",
    "ObjectMeta.annotations": "Kubernetes: keys are the users'",
    "SchedulingPolicy.minResources": "Kubernetes: names of resources, and quantities that the compiler reads",
    "SyncConfig.flags": "written by the compiler from checked options",
    "JobRole.envs": "names of environment variables, which the compiler checks",
    "JobRole.node_selector": "Kubernetes: keys and values are checked as labels",
    "Settings.accelerators": "names of resources",
    "Lock.images": "names of images with tags",
    "Lock.git": "URLs with branches and tags",
    "Lock.huggingface": "names of repositories with branches and tags",
    "Lock.s3": "URIs of prefixes",
    "SpecPatch.merge": "fields of the spec, which is checked after the merge",
    "Cluster.labels": "Kubernetes: keys and values are checked as labels",
    "ArgoCD.labels": "Kubernetes: keys and values are checked as labels",
    "MxReplicaStatus.ReplicasStates": "states that agents count pods by",
    "ResourceStatus.resource_states": "states that agents count pods by",
    "Executor.nodeSelector": "Kubernetes: keys are labels of nodes",
    "DatasetCache.nodeSelector": "Kubernetes: keys are labels of nodes",
    "Profiles.accelerators": "names that the platform team gives",
    "Profiles.networks": "names that the platform team gives",
    "AcceleratorProfile.resources": "names of resources",
    "AcceleratorProfile.nodeSelector": "Kubernetes: keys are labels of nodes",
    "NetworkProfile.resources": "names of resources",
    "NetworkProfile.annotations": "Kubernetes: keys are those of network plug-ins",
}
"""Mappings with keys of any name. Embedded Kubernetes types are marked instead."""

LEGACY = "the old API set no limit, and what it took is still taken"
HANDED_ON = "handed to JuiceFS, which knows the forms that its version takes"
STATUS = "written by agents, not by users"
CONFIG = "written by the compiler from values that it has checked"
UNBOUNDED_STRINGS = {
    "ObjectMeta": LEGACY,
    "NamedReference": LEGACY,
    "SecretReference": LEGACY,
    "Source": LEGACY,
    "CacheLevel": LEGACY,
    "WarmupOptions": LEGACY,
    "RmrOptions": LEGACY,
    "ClearOptions": LEGACY,
    "SampleJobSpec.schedule": "its form is checked as a cron expression",
    "SampleJobSpec.timeZone": "it is looked up in the IANA database",
    "PaddleJobSpec": LEGACY,
    "FrameWork": LEGACY,
    "JobAnnotations": LEGACY,
    "JobRole": LEGACY,
    "MasterRole": LEGACY,
    "ServerRole": LEGACY,
    "TrainerRole": LEGACY,
    "TrainingJobSpec": LEGACY,
    "MxJobSpec": LEGACY,
    "MxReplicaSpec": LEGACY,
    "SchedulingPolicy": LEGACY,
    "DatasetMount": LEGACY,
    **{f"MountOptions.{key}": LEGACY for key in ("metrics", "cache-dir", "free-space-ratio", "sub-dir")},
    **{
        f"MountOptions.{key}": HANDED_ON for key in ("cache-expire", "cache-mode", "cache-scan-interval", "backup-meta")
    },
    **{f"SyncOptions.{key}": LEGACY for key in "source destination start end exclude include manager worker".split()},
    **{f"SyncOptions.{key}": HANDED_ON for key in "max-size min-size max-age min-age storage-class".split()},
    "CacheStatus": STATUS,
    "RuntimeStatus": STATUS,
    "JobsName": STATUS,
    "Partition": STATUS,
    "SampleSetStatus": STATUS,
    "SampleJobStatus": STATUS,
    "PaddleJobStatus": STATUS,
    "TrainingJobStatus": STATUS,
    "ScaleRecord": STATUS,
    "ResourceStatus": STATUS,
    "MxJobStatus": STATUS,
    "MxReplicaStatus": STATUS,
    "ObjectReference": STATUS,
    "Attempt": STATUS,
    "AttemptReport": STATUS,
    "TaskAttempt": STATUS,
    "Condition": STATUS,
    "CubeCondition": STATUS,
    "SyncConfig": CONFIG,
    "TaskConfig": CONFIG,
    "MountedTask": CONFIG,
    "WarmupConfig": CONFIG,
    "RuntimeConfig": CONFIG,
    "RmrConfig": CONFIG,
    "ClearConfig": CONFIG,
    "TransferConfig": CONFIG,
    **{f"{side}Endpoint": CONFIG for side in ("S3", "HuggingFace", "Git", "Pvc")},
    "State": CONFIG,
    "ClaimReference": LEGACY,
    "ExecutorOptions.extraArgs": LEGACY,
    "DataCubeStatus": STATUS,
    "CubePod": STATUS,
    "PodName": STATUS,
    "DatasetTaskStatus": STATUS,
    "TrainingStatus": STATUS,
    "OutputStatus": STATUS,
    "LineageMarker": "written by an agent",
    "LineageDataset": "written by an agent",
    "TrainingSpec.command": "as in Kubernetes",
    "TrainingSpec.args": "as in Kubernetes",
}
"""Models with strings, or lists of strings, of any length."""

FLAGS = {
    "MountOptions": "flags of `juicefs mount`, as in the old API",
    "SyncOptions": "flags of `juicefs sync`, as in the old API",
    "SampleSetSpec.noSync": "old API",
    "SampleSetSpec.warmupAfterSync": "a step that is either done or not",
    "SampleJobSpec.terminate": "old API",
    "JuiceFS.warmupAfterSync": "a step that is either done or not",
    "Images.requireDigests": "a rule that either holds or not",
    "Policy.crossNamespaceTasks": "a permission that is either given or not",
    "Namespaces.emit": "an object that is either written or not",
    "Network.denyLinkLocal": "the addresses of a node are either open or not",
    "GroupKind.clusterScoped": "a fact about a kind",
    "AgentConfig.reportPhase": "one of two reporters",
    "Engines.helpersMustListen": "a server that never listens either fails its job or does not",
    "AwaitConfig.mustListen": "made from Engines.helpersMustListen",
    "AwaitConfig.replaceable": "a framework either readmits a process or does not",
    "Settings.reporter": "a program that is either there or not",
    "ReporterConfig.jobSets": "a kind that is either served or not",
    "RuntimeConfig": "steps that are either part of the specs or not",
    "SyncConfig.completes": "a step that is either the last or not",
    "WarmupConfig.marks": "a marker that is either written or not",
    "TrainingJobSpec": "old API",
    "TrainingJobStatus.released": "old API",
    "MxJobStatus.controlPaused": "old API",
    "ClaimReference.readOnly": "as in Kubernetes",
    **{
        f"S3Settings.{key}": "a step or a way that is either taken or not"
        for key in "pathStyle anonymous createBucket verifyParts acceptUnverified".split()
    },
    **{f"GitSettings.{key}": "content that is either copied or not" for key in ("lfs", "submodules")},
    **{f"ExecutorOptions.{key}": "a permission to delete, given or not" for key in ("sync", "allowEmpty")},
    "S3Endpoint": "made from S3Settings",
    "GitEndpoint": "made from GitSettings",
    "Mirror.allowEmpty": "made from ExecutorOptions",
    "WaitConfig.retry": "a wait that ends either fails its job or does not",
    "GateConfig.admission": "a run is held either by Kueue or by itself",
    "Engines.kueueAdmissionGates": "a feature of Kueue that is either there or not",
    "S3Place.pathStyle": "as in S3Settings",
    "S3Source.acceptUnverified": "content that is either copied or not",
    "S3Source.anonymous": "credentials are either sent or not",
    "GitCheckout.submodules": "content that is either copied or not",
    "GitPlace.lfs": "content that is either copied or not",
    "Refresh.delete": "a permission to delete, given or not",
    "SyncTask.delete": "a permission to delete, given or not",
    "DatasetSpec.retain": "an object is either protected or not",
    "TrainingDataset.readOnly": "as in Kubernetes",
    "DatasetTaskSpec.suspend": "as in Kubernetes",
    "TrainingSpec.suspend": "as in Kubernetes",
    "Checkpoints.shareLineage": "a permission that is either given or not",
    "NetworkProfile.hostNetwork": "as in Kubernetes",
    "Policy.fillSecurityContext": "a rule that either holds or not",
}
"""Booleans. A new one needs a reason: what has two values today may have three tomorrow."""

ODD_KEYS = {
    "TrainingJobSpec": "old API: in snake case, and `VolumeMounts`",
    "JobRole": "old API: in snake case",
    "MasterRole": "old API: `etcd-endpoint`",
    "ServerRole": "old API: `min-instance` and `max-instance`",
    "TrainerRole": "old API: `etcd-endpoint`",
    "TrainingJobStatus": "old API: in snake case",
    "ScaleRecords": "old API: `ScaleRecords`",
    "ResourceStatus": "old API: in snake case",
    "MxJobSpec.RuntimeId": "old API",
    "MxReplicaSpec.PsRootPort": "old API",
    "MxReplicaStatus": "old API: `Mx_replica_type` and `ReplicasStates`",
}
"""Models or fields whose keys are in no usual case. Kinds whose old API had a schema have none."""

CAMEL = re.compile(r"[a-z][a-zA-Z0-9]*")
KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")
FLAG_NAMED = {"MountOptions", "SyncOptions"}
"""Models whose keys are command-line flags, as in the old API."""


@dataclass(frozen=True)
class ModelField:
    """One field where it is declared: models that inherit it are left out."""

    model: type[Model]
    info: FieldInfo
    key: str

    @property
    def path(self) -> str:
        return f"{self.model.__name__}.{self.key}"

    def reason_in(self, allowed: dict[str, str]) -> str:
        """The entry of `allowed` that covers this field; the field itself where none does."""
        return self.model.__name__ if self.model.__name__ in allowed else self.path


def models() -> list[type[Model]]:
    """Every model of the schema package, by name."""
    for module in pkgutil.walk_packages(stowplan.schema.__path__, "stowplan.schema."):
        importlib.import_module(module.name)

    def below(model: type[Model]) -> Iterator[type[Model]]:
        for child in model.__subclasses__():
            yield child
            yield from below(child)

    ours = {model for model in below(Model) if model.__module__.startswith("stowplan.schema.")}
    return sorted(ours, key=lambda model: model.__name__)


def fields() -> list[ModelField]:
    return [
        ModelField(model, info, info.alias or name)
        for model in models()
        for name, info in model.model_fields.items()
        if name in model.__annotations__
    ]


def types_in(annotation: Any) -> Iterator[tuple[Any, bool]]:
    """Every type inside an annotation, and whether a `KubernetesType` mark covers it."""
    marked = kubernetes_type(list(getattr(annotation, "__metadata__", ()))) is not None
    inner = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    yield inner, marked
    for argument in get_args(inner):
        yield from ((part, marked or covered) for part, covered in types_in(argument))


def unmarked(field: ModelField) -> list[Any]:
    """Types inside a field's annotation that no `KubernetesType` covers."""
    covered = kubernetes_type(field.info.metadata) is not None
    return [] if covered else [part for part, marked in types_in(field.info.annotation) if not marked]


def strings(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of a free string inside `schema`, but for keys and values of mappings."""
    if isinstance(schema, list):
        for part in schema:
            yield from strings(part)
    elif isinstance(schema, dict):
        if schema.get("type") == "string" and not schema.keys() & {"enum", "const"}:
            yield schema
        for key in ("anyOf", "items"):
            yield from strings(schema.get(key))


@cache
def properties(model: type[Model]) -> dict[str, Any]:
    found: dict[str, Any] = model.model_json_schema()["properties"]
    return found


def unbounded(field: ModelField) -> bool:
    schema = properties(field.model)[field.key]
    return any("maxLength" not in part for part in strings(schema))


def test_models_are_frozen_strict_closed_and_documented() -> None:
    config = {"frozen": True, "strict": True, "extra": "forbid"}
    assert [model for model in models() if not config.items() <= dict(model.model_config).items()] == []
    assert [model for model in models() if not (model.__doc__ or "").rstrip().endswith(".")] == []


def test_every_field_is_described_in_sentences() -> None:
    sentence = re.compile(r"[A-Z`].*\.")
    assert [field.path for field in fields() if not sentence.fullmatch(field.info.description or "")] == []


def test_keys_are_in_camel_case_or_flags_or_have_a_reason() -> None:
    def form(field: ModelField) -> re.Pattern[str]:
        return KEBAB if field.model.__name__ in FLAG_NAMED else CAMEL

    odd = {field.reason_in(ODD_KEYS) for field in fields() if not form(field).fullmatch(field.key)}
    assert odd == ODD_KEYS.keys()


def test_a_part_that_is_left_out_is_as_one_without_fields() -> None:
    """Such defaults are made without validation, so that no validator is built for them."""
    parts = [each.info.default for each in fields() if isinstance(each.info.default, Model)]
    empty = [each for each in parts if not each.model_fields_set]
    assert len(empty) > 10
    assert empty == [type(each).model_validate({}) for each in empty]


def test_every_value_has_a_type() -> None:
    patches = ["JsonOperation.value", "SpecPatch.merge"]  # checked in the spec that they change
    assert [field.path for field in fields() if Any in unmarked(field)] == patches


def test_mappings_of_any_keys_have_a_reason() -> None:
    free = {field.path for field in fields() if any(get_origin(part) is dict for part in unmarked(field))}
    assert free == FREE_MAPPINGS.keys()


def test_booleans_have_a_reason() -> None:
    flags = {
        field.reason_in(FLAGS) for field in fields() if bool in unmarked(field) and field.path not in FREE_MAPPINGS
    }
    assert flags == FLAGS.keys()


def test_strings_have_a_bound_or_a_reason() -> None:
    assert {field.reason_in(UNBOUNDED_STRINGS) for field in fields() if unbounded(field)} == UNBOUNDED_STRINGS.keys()


def test_the_mark_of_an_embedded_type_covers_only_its_own_value() -> None:

    marked = Annotated[dict[str, Any], KubernetesType("io.k8s.api.core.v1.Pod")]
    assert [part for part, covered in types_in(list[marked]) if not covered] == [list[marked]]
    assert Any in [part for part, covered in types_in(dict[str, Any]) if not covered]
