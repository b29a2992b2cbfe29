"""Interface of a dialect, which compiles the specs of one kind."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.reading.api import NOTHING, Reading
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.reason import Reason
from stowplan.library.manifest import ExternalReference, Unit
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.pod_grants import PodGrant

Model = TypeVar("Model", bound=CustomResource)


class Reference(NamedTuple):
    """A reference to a dataset, at the path `at`. The name of `spec` is empty if the field is there without a name.

    `revision` is the path of the revision for which the job waits, empty for none.
    """

    spec: SpecId
    at: FieldPath
    revision: FieldPath = ()


class Lineage(NamedTuple):
    """A line of runs that continue from each other's checkpoints: its name, and the path of the field that names it.

    `shared` is true if other specs may have the same one.
    """

    name: str
    at: FieldPath
    shared: bool = False


class Ports(NamedTuple):
    """Ports on the host network: the first one and the one after the last.

    `at` is the path of the field that wants them, `choice` the annotation by which a spec takes others.
    """

    start: int
    stop: int
    at: FieldPath
    choice: str


class Operation(NamedTuple):
    """What a task does once on a dataset: the drivers' word, and the path of a field for findings about it."""

    word: str
    at: FieldPath


class Deletion(NamedTuple):
    """A task that deletes files of its dataset which no source has: the directory below the dataset, and the field."""

    below: str
    at: FieldPath


@dataclass(frozen=True, slots=True)
class Relations:
    """Resources that a spec shares with other specs.

    `references` are the datasets that the spec names. `pods` is the number of pods that mount these datasets. `ports`
    are ports on the host network; None if the spec uses none. `mounted` are claims in the volumes that the spec
    declares. `named` are the names, with their paths, of other claims that the spec uses and does not make. `write` is
    the directory of a claim that the spec uses, None for none. `lineage` is that of its checkpoints, None for none.
    `outputs` are directories of claims to which it copies what it made. `operation` is what a task does once on a
    dataset, None for other specs and for one that is suspended. `repeats` is true if the spec runs on a schedule,
    `changes` if it is a task that changes the data of its dataset, once or on a schedule. `locked` are the datasets of
    which a job waits for the locked revision. `deletes` is what a task mirrors in its dataset, None for nothing.

    The others are for datasets: `caches` are (host directory, path of the field that names it) pairs of the cache.
    `claim` is the name of the claim of a dataset without a cache. `single` is the path of that claim's access modes if
    only one cluster node can mount the claim, else empty. `revision` is the one that is locked, if any.
    """

    references: tuple[Reference, ...] = ()
    pods: int = 0
    ports: Ports | None = None
    mounted: tuple[MountedClaim, ...] = ()
    named: tuple[tuple[str, FieldPath], ...] = ()
    write: Write | None = None
    outputs: tuple[Write, ...] = ()
    caches: tuple[tuple[str, FieldPath], ...] = ()
    claim: str | None = None
    single: FieldPath = ()
    lineage: Lineage | None = None
    operation: Operation | None = None
    repeats: bool = False
    changes: bool = False
    locked: tuple[SpecId, ...] = ()
    deletes: Deletion | None = None
    revision: str = ""


class SecretKeys(NamedTuple):
    """A Secret with the keys that a spec needs in it, and the path of the field that names it.

    `chosen` is true if the spec names the key itself.
    """

    reference: ExternalReference
    at: FieldPath
    chosen: bool = False


class Pods(NamedTuple):
    """What others ask about the pods of a kind that trains, which users describe.

    `containers` are the names of those that Stowplan adds to the pods of this kind alone. `host_paths` returns the
    directories of nodes that the platform file gives to the pods. `hints` says what to do about a field that needs a
    grant, by the grant, where the field is not the only way to it. `templates` is false if the pods are made from
    fields of the spec.
    """

    containers: tuple[str, ...] = ()
    host_paths: Callable[[Platform], Iterable[str]] = lambda _: ()
    hints: Mapping[PodGrant, str] = {}
    templates: bool = True


USUAL = Pods()
"""What is true for most kinds."""


@dataclass(frozen=True, slots=True)
class Dialect(Generic[Model]):
    """The compiler of one kind.

    `lower` builds the manifests of one spec. It never raises for a user's mistake, but returns findings.
    `relations` is only called for specs without errors. `rules`, for kinds with pod templates, returns the findings
    of `lower` that depend on the spec and the platform alone. It is also called for what is left of a spec without the
    parts that do not fit the schemas of Kubernetes.

    The others are optional. `reading` is what others read in the documents of the kind. `secrets` returns the keys that
    a spec needs in Secrets, if no other spec needs them too. `pods` is about its pods, if they train. `retries` is the
    field with the number of retries of its Jobs. `reasons` explain values in its objects.

    An example is `stowplan.library.dialects.toy_training.dialect`::

        '''The dialect of the kind ToyTraining.'''

        from stowplan.library.dialects.shared.context import Lowered
        from stowplan.library.dialects.shared.dialect import Dialect, Relations
        from stowplan.library.dialects.training_group.unit import environments, unit
        from stowplan.library.ir.data import Origin
        from stowplan.library.ir.training import Framework, Role, TrainingGroup
        from stowplan.library.values.names import TrainingNames
        from stowplan.schema.meta import SpecId


        def lower(model, context):
            identity = SpecId("ToyTraining", context.namespace(model.metadata.namespace), model.metadata.name)
            template = {"spec": {"containers": [{"name": "main", "image": model.spec.image}]}}
            group = TrainingGroup(
                origin=Origin(identity, ""),
                names=TrainingNames(identity.name, "toytraining"),
                framework=Framework(),
                roles=(Role("worker", model.spec.nodes, template, decides=True),),
            )
            return Lowered(unit(model, group, environments(group, context), context))


        DIALECT = Dialect(lower, lambda model, context: Relations())
    """

    lower: Callable[[Model, Context], Lowered]
    relations: Callable[[Model, Context], Relations]
    rules: Callable[[Model, Platform], Iterable[Finding]] | None = None
    reading: Reading = NOTHING
    secrets: Callable[[Model, Unit], Iterable[SecretKeys]] = lambda *_: ()
    pods: Pods = USUAL
    retries: str = ""
    reasons: tuple[Reason, ...] = ()
