"""What the checks across specs know of each spec: small values without bodies, made once, kept and sent about.

A spec that did not change is not compiled again, but what others refer to in it must still be known. All types are
tuples: reading those of forty thousand objects from a file takes a fraction of a second.
"""

from typing import Any, NamedTuple

from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId, SpecId


class Origin(NamedTuple):
    """The spec that objects were compiled from, if it was one, and the user's file."""

    spec: SpecId | None
    source: str


class Fact(NamedTuple):
    """One object of the output.

    `sound` says that it fits its schema. `phase` is its place in `sync_phases.PHASES`, -1 for a hook of no such phase;
    `gated` says that a step which is not the last waits for it. `size` is that of its
    JSON in bytes, somewhat less than that of our YAML.
    """

    id: ObjectId
    path: str
    origin: Origin
    authored: bool
    sound: bool
    phase: int
    wave: int
    gated: bool
    size: int

    @property
    def kind(self) -> tuple[str, str]:
        """Group and kind."""
        return self.id[:2]

    @property
    def spec(self) -> SpecId | None:
        return self.origin.spec

    @property
    def source(self) -> str:
        return self.origin.source

    @property
    def application(self) -> str:
        return self.path.partition("/")[0]

    @property
    def order(self) -> tuple[bool, tuple[str, ...], str]:
        """Of two objects that clash, the later one by this is at fault: not that of a spec but one beside it."""
        return self.spec is None, self.spec or (), self.path


class Reference(NamedTuple):
    """A field of `owner` that names another object, and for a ConfigMap perhaps a key in it.

    `ordinal` is the number of a StatefulSet's pod that a pod affinity asks for.
    """

    owner: Fact
    target: ObjectId
    path: FieldPath
    key: str
    ordinal: int | None


class Selector(NamedTuple):
    """A label selector in the form of `metav1.LabelSelector`, and where it stands."""

    owner: Fact
    path: FieldPath
    value: dict[str, Any]


class PodLabels(NamedTuple):
    """The labels of a pod. Their names stand in one tuple for all pods alike, which is kept once."""

    namespace: str
    names: tuple[str, ...]
    values: tuple[str, ...]


class Claim(NamedTuple):
    """What a claim that names its volume wants of it. `storage_class` is None for one that the cluster may fill in."""

    owner: Fact
    volume: str
    storage_class: str | None
    mode: str
    access_modes: tuple[str, ...]
    size: Any


class Volume(NamedTuple):
    """What a volume offers: `bound` is the claim that it is reserved for, `handle` that of its CSI driver."""

    owner: Fact
    storage_class: str
    mode: str
    access_modes: tuple[str, ...]
    size: Any
    bound: tuple[Any, Any] | None
    handle: tuple[str, str] | None


class Project(NamedTuple):
    """The kinds that an AppProject allows, as pairs of patterns for group and kind; None where it does not say."""

    owner: Fact
    cluster: tuple[tuple[str, str], ...]
    namespaced: tuple[tuple[str, str], ...] | None


class Excess(NamedTuple):
    """A field of a user's pod that the platform does not allow: message and hint of its finding."""

    path: FieldPath
    message: str
    hint: str


class Brought(NamedTuple):
    """A user's pod template at `path`, and in words which of its fields a level of Pod Security forbids.

    `excess` is what the platform file does not allow, in whatever namespace.
    """

    owner: Fact
    path: FieldPath
    baseline: str
    restricted: str
    excess: tuple[Excess, ...]


class Template(NamedTuple):
    """The parts of a role's compiled pod by which its fields are found again in the user's template."""

    path: FieldPath
    role: str
    init_containers: tuple[str, ...]
    containers: tuple[str, ...]
    waits: bool
    """Whether the first init container is ours."""


class Step(NamedTuple):
    """Where objects of an Application stand in its sync, which may wait for them if they are `gated`.

    `moves` says that they are of a kind that Argo CD moves before what needs it.
    """

    application: str
    phase: int
    wave: int
    gated: bool
    moves: bool


class Outline(NamedTuple):
    """What sound objects are together.

    `kinds` have group and kind, and whether there is a namespace; `sizes` are sums by Application.
    """

    steps: tuple[Step, ...] = ()
    kinds: tuple[tuple[str, str, bool], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()


class Facts(NamedTuple):
    """What is known of one spec's objects, or of those that no spec made. Unsound objects are only in `objects`."""

    objects: tuple[Fact, ...] = ()
    externals: tuple[tuple[str, str, str], ...] = ()
    """Kind, namespace and name of what is known to come from elsewhere."""
    references: tuple[Reference, ...] = ()
    """Those that do not lead to a fitting object of the same spec."""
    selectors: tuple[Selector, ...] = ()
    """Those that match no pod of the same spec, or of the same namespace among what no spec made."""
    pods: tuple[PodLabels, ...] = ()
    contents: tuple[tuple[ObjectId, tuple[str, ...]], ...] = ()
    """The keys of each ConfigMap."""
    replicas: tuple[tuple[ObjectId, int], ...] = ()
    """The number of pods of each StatefulSet."""
    claims: tuple[Claim, ...] = ()
    volumes: tuple[Volume, ...] = ()
    holding: tuple[tuple[Fact, str], ...] = ()
    """Sync options that hold a sync open."""
    custom: tuple[Fact, ...] = ()
    """Objects whose kind a CRD must bring before they can be tried."""
    definitions: tuple[tuple[Fact, tuple[str, str]], ...] = ()
    """The group and kind that each CRD defines."""
    projects: tuple[Project, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    """The level of Pod Security that each Namespace enforces."""
    brought: tuple[Brought, ...] = ()
    templates: tuple[tuple[ObjectId, tuple[Template, ...]], ...] = ()
    outline: Outline = Outline()
