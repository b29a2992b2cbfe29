"""The review of a change: plain values that the comment and the page show."""

from dataclasses import dataclass
from enum import StrEnum

from stowplan.compiler.diff.change import Action, Risk
from stowplan.compiler.pins.pin_changes import PinChange
from stowplan.schema.meta import SpecId


class ChangeKind(StrEnum):
    """What a change does to a node of the graph or to an object."""

    CREATED = "created"
    CHANGED = "changed"
    REPLACED = "replaced"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


class RunFate(StrEnum):
    """What a change does to a run of a spec."""

    ENDS = "ends"
    REPLACED = "ends and starts again"
    STARTS = "starts"


class NodeKind(StrEnum):
    """What a node of the graph is, from left to right."""

    SOURCE = "source"
    DATASET = "dataset"
    TASK = "task"
    TRAINING = "training"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a user's file. `line` counts from 1; 0 means the file as a whole."""

    file: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class RunChange:
    """A run that a change starts, ends or replaces, such as the `sync` of a dataset (`part`).

    `place` is where the document of its spec begins.
    `reasons` say why: which fields were changed, or a sentence. `effects` are sentences about what follows, such as
    what it asks for. `environment` is the environment or cluster where it runs, empty without environments.
    """

    fate: RunFate
    spec: SpecId
    place: SourceLine
    part: str
    reasons: tuple[str, ...]
    effects: tuple[str, ...] = ()
    environment: str = ""

    @property
    def owner(self) -> str:
        """Its spec, such as `Training ml/resnet (stage)`."""
        where = f" ({self.environment})" if self.environment else ""
        return f"{self.spec}{where}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reviewer must know first. `data` and `rights` are sentences; all empty means that nothing is at stake."""

    runs: tuple[RunChange, ...]
    data: tuple[str, ...]
    """Data that may be lost, or that nothing manages any more."""
    rights: tuple[str, ...]
    """Rights that agents or users gain."""
    security: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number before and after the change, such as `GPUs nvidia.com/gpu`: 8 → 16.

    The values are texts with their units, such as `1.5 TiB`, or `no limit`. `more` says whether the number grows;
    None if it stays the same.
    """

    title: str
    before: str
    after: str
    more: bool | None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph. `lines` are short facts below the title, such as `4 nodes, 8 GPUs each`."""

    id: str
    part: NodeKind
    title: str
    lines: tuple[str, ...]
    state: ChangeKind
    place: SourceLine | None
    objects: tuple[str, ...]
    """Paths of the changed files that belong to it, as `ChangedObject.path`."""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An arrow from one node to another, by their ids. `text` may say how: `waits until warmed`."""

    start: str
    end: str
    text: str
    state: ChangeKind


@dataclass(frozen=True, slots=True)
class Step:
    """One step of what happens after the merge, in order: a sync wave of Argo CD, or what agents do then."""

    title: str
    lines: tuple[str, ...]
    by: str
    """Who does it: `Argo CD` or `agents`."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """What an environment holds of one spec: a short text for each aspect (run, image, revision), and how it stands.

    `note` says how far it is behind another environment, if it is.
    """

    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Row:
    """A spec, and what each environment has of it."""

    title: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """What each environment has of each spec in which they differ. Every row has one cell for each column."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Secret:
    """A Secret whose `keys` those in `used_by` need. `defined`: the repository has it; its content is never read."""

    namespace: str
    name: str
    keys: tuple[str, ...]
    used_by: tuple[str, ...]
    defined: bool
    new: bool
    """Whether nothing referred to it before the change."""


@dataclass(frozen=True, slots=True)
class ChangeOrigin:
    """Where a changed value comes from: the line of a spec, or a sentence for a default or a constant."""

    text: str
    place: SourceLine | None


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A changed value of an object: its path in dots, its texts before and after, and its origins."""

    path: str
    before: str
    after: str
    origins: tuple[ChangeOrigin, ...]


class Side(StrEnum):
    """Which side of a diff a line stands on."""

    BOTH = " "
    BEFORE = "-"
    AFTER = "+"
    GAP = "…"
    """Unchanged lines that are left out; the text says how many."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff; `before` and `after` are line numbers from 1, or 0 on a side where there is no such line."""

    side: Side
    before: int
    after: int
    text: str


@dataclass(frozen=True, slots=True)
class ChangedObject:
    """A changed object with its diff. `path` is that of its file below the whole output folder; unique in a review."""

    action: Action
    path: str
    title: str
    source: str
    environment: str
    risks: tuple[Risk, ...]
    leaves: tuple[ChangedValue, ...]
    lines: tuple[DiffLine, ...]
    others: tuple[str, ...] = ()
    """Titles of objects with the same change, which are not shown by themselves."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """A risk of one or more objects: the risk once, and the objects by their `ChangedObject.path`."""

    risk: Risk
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """All that reviewers see of a change; tuples are in the order in which they are shown."""

    summary: str
    verdict: Verdict
    figures: tuple[Figure, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    steps: tuple[Step, ...]
    matrix: Matrix | None
    hazards: tuple[Hazard, ...]
    pins: tuple[PinChange, ...]
    secrets: tuple[Secret, ...]
    objects: tuple[ChangedObject, ...]
    base: str
    """What the change is compared with, such as the name of a commit."""

    def nodes_near_changes(self, most: int) -> list[GraphNode]:
        """Return the changed nodes of the graph, then their unchanged neighbours, at most `most` of both together."""
        changed = [node for node in self.nodes if node.state is not ChangeKind.UNCHANGED]
        ids = {node.id for node in changed}
        near = {end for edge in self.edges for end in (edge.start, edge.end) if ids & {edge.start, edge.end}} - ids
        return [*changed, *(node for node in self.nodes if node.id in near)][:most]
