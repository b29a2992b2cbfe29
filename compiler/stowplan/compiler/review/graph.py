"""The graph of a change: where data comes from, who reads it, and where results go."""

from collections.abc import Iterator
from typing import Any

from stowplan.compiler.diff.change import Action
from stowplan.compiler.kubernetes.fields import identity, mapping, spec_of
from stowplan.compiler.review.model import ChangeKind, GraphEdge, GraphNode, NodeKind
from stowplan.compiler.review.objects import object_path
from stowplan.compiler.review.runs import spec_name
from stowplan.compiler.review.scene import Objects, Scene, Scenes, runs, specs
from stowplan.library.dialects.registry import reading
from stowplan.library.dialects.shared import run_order
from stowplan.library.manifest import Json
from stowplan.schema.kinds.table import DATASET_KINDS, KINDS, TRAINING_KINDS
from stowplan.schema.meta import ObjectId, SpecId

_MOST_LINES = 4


def graph(scenes: Scenes) -> tuple[tuple[GraphNode, ...], tuple[GraphEdge, ...]]:
    """Return the nodes and edges of all output folders, each in the order of their ids."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[tuple[str, str], GraphEdge] = {}
    for scene in scenes.all:
        own = _Builder(scene)
        nodes |= own.nodes
        edges |= own.edges
    return tuple(nodes[key] for key in sorted(nodes)), tuple(edges[key] for key in sorted(edges))


class _Builder:
    def __init__(self, scene: Scene) -> None:
        self.scene, self.nodes, self.edges = scene, dict[str, GraphNode](), dict[tuple[str, str], GraphEdge]()
        self._sides = self._before, self._after = specs(scene.before), specs(scene.after)
        self._changed = _changed_paths(scene)
        self._runs = [_runs(side) for side in (scene.before, scene.after)]
        self._places = [{place for _, body in held.values() for place in _places(body)} for held in self._sides]
        for spec in sorted(self._before.keys() | self._after.keys()):
            self._add(spec)

    def _add(self, spec: SpecId) -> None:
        old, new = (held[spec][1] if spec in held else None for held in self._sides)
        body = new or old or {}
        state = self._state(spec, old, new)
        named, document = spec_name(self.scene, spec)
        own = self._id(spec)
        title = self.scene.titled(f"{spec.kind} {named.name}")
        facts = tuple(_facts(body))[:_MOST_LINES]
        self.nodes[own] = GraphNode(own, _part(spec), title, facts, state, document, self._changed.get(spec, ()))
        kind = reading(spec.kind)
        for side in (old, new):
            for place, word in kind.sources(side or {}):
                self._edge(self._place(place, NodeKind.SOURCE), own, word, self._place_state(place, NodeKind.SOURCE))
            for place, word in kind.sinks(side or {}):
                self._edge(own, self._place(place, NodeKind.OUTPUT), word, self._place_state(place, NodeKind.OUTPUT))
        before = ((each, "runs after") for each in run_order.of_document(body, KINDS[spec.kind].model, spec.namespace))
        for other, text in (*_datasets(body, spec), *before):
            if other in self._before or other in self._after:
                self._edge(self._id(other), own, text, state)

    def _place(self, place: str, part: NodeKind) -> str:
        """Add a node for a place outside of the specs, and return its id."""
        node = f"{part.value}:{place}"
        self.nodes[node] = GraphNode(node, part, place, (), self._place_state(place, part), None, ())
        return node

    def _place_state(self, place: str, part: NodeKind) -> ChangeKind:
        before, after = ((place, part) in each for each in self._places)
        return ChangeKind.UNCHANGED if before and after else ChangeKind.CREATED if after else ChangeKind.REMOVED

    def _state(self, spec: SpecId, old: Json | None, new: Json | None) -> ChangeKind:
        if old is None:
            return ChangeKind.CREATED
        if new is None:
            return ChangeKind.REMOVED
        before, after = (held.get(spec, frozenset()) for held in self._runs)
        if before - after:
            return ChangeKind.REPLACED
        return ChangeKind.CHANGED if spec in self._changed else ChangeKind.UNCHANGED

    def _edge(self, start: str, end: str, text: str, state: ChangeKind) -> None:
        self.edges[start, end] = GraphEdge(start, end, text, state)

    def _id(self, spec: SpecId) -> str:
        return f"{_part(spec).value}:{self.scene.name}:{spec}"


def _runs(objects: Objects) -> dict[SpecId, frozenset[ObjectId]]:
    found: dict[SpecId, set[ObjectId]] = {}
    for spec, _, body in runs(objects):
        found.setdefault(spec, set()).add(identity(body))
    return {spec: frozenset(own) for spec, own in found.items()}


def _changed_paths(scene: Scene) -> dict[SpecId, tuple[str, ...]]:
    found: dict[SpecId, list[str]] = {}
    for change in scene.changes:
        if change.action is Action.FOREIGN:
            continue
        body = scene.after.get(change.path) or scene.before.get(change.path) or {}
        if spec := spec_of(body):
            found.setdefault(spec, []).append(object_path(scene, change.path))
    return {spec: tuple(paths) for spec, paths in found.items()}


def _part(spec: SpecId) -> NodeKind:
    if spec.kind in DATASET_KINDS:
        return NodeKind.DATASET
    return NodeKind.TRAINING if spec.kind in TRAINING_KINDS else NodeKind.TASK


def _facts(body: Json) -> Iterator[str]:
    """Yield short facts about a spec: nodes, accelerator, queue, cache nodes, image, schedule."""
    spec = mapping(body, "spec")
    if (nodes := spec.get("numNodes")) is not None:
        accelerator = f", {spec['accelerator']}" if spec.get("accelerator") else ""
        yield f"{nodes} {'node' if nodes == 1 else 'nodes'}{accelerator}"
    if (cache := mapping(spec, "cache").get("nodes")) is not None:
        yield f"cached on {cache} {'node' if cache == 1 else 'nodes'}"
    if (partitions := spec.get("partitions")) is not None:
        yield f"cached on {partitions} {'node' if partitions == 1 else 'nodes'}"
    if image := spec.get("image"):
        yield str(image).rpartition("/")[2]
    if queue := mapping(spec, "scheduling").get("queue"):
        yield f"queue {queue}"
    if schedule := spec.get("schedule") or mapping(spec, "refresh").get("schedule"):
        yield f"at {schedule}"


def _places(body: Json) -> Iterator[tuple[str, NodeKind]]:
    own = reading(body.get("kind"))
    yield from ((each.text, NodeKind.SOURCE) for each in own.sources(body))
    yield from ((each.text, NodeKind.OUTPUT) for each in own.sinks(body))


def _datasets(body: Json, spec: SpecId) -> Iterator[tuple[SpecId, str]]:
    """Yield the datasets that a spec names, with what it waits for."""
    field = KINDS[spec.kind].datasets
    if field is None:
        return
    for name, path in field.names(body):
        reference: Any = body
        for key in path[:-1]:
            reference = reference[key]
        wait = f"waits until {mapping(reference, 'wait').get('until', 'ready')}" if "wait" in reference else ""
        yield SpecId(field.kind, spec.namespace, name), wait
