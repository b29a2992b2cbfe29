"""Targets: the places that the specs of a repository are compiled for, each with a folder of the output.

They are the clusters of the environments; without environments it is one, the whole repository.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments import file_patterns
from stowplan.compiler.environments.overlay import merged, placed
from stowplan.compiler.environments.patches import Patch, apply, matches
from stowplan.schema.diagnostics import FieldPath, Finding, did_you_mean, finding
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.environments import Cluster, Environment, StartedRun
from stowplan.schema.platform.platform import Platform

ENVIRONMENT, CLUSTER = "stowplan.dev/environment", "stowplan.dev/cluster"
"""Labels of Argo CD objects."""


@dataclass(frozen=True)
class Target:
    """A cluster of an environment, an environment without clusters of its own, or the whole repository.

    `name` is `<environment>/<cluster>`, `<environment>` or empty: for users, and the folder in the output folder.
    `environment` says what is different there; that of the whole repository is nameless, and nothing is. `source` is
    the document of the platform file as it is written, `path` the place of the environment in it. `platform` is the
    document of the platform file for this target: without environments, and with the settings of the environment and
    cluster. `adopted` is whether its Argo CD objects have the names that they had before there were environments.
    """

    name: str
    environment: Environment
    source: Document
    path: FieldPath
    platform: Document
    patches: tuple[Patch, ...] = ()
    adopted: bool = False

    @classmethod
    def whole(cls, source: Document) -> "Target":
        """Return the target of a repository without environments; `source` is the document of its platform file."""
        return cls("", Environment.model_construct(name=""), source, (), source)

    @property
    def runs(self) -> dict[SpecId, tuple[StartedRun, ...]] | None:
        """The runs that may start here, by spec; None if every run starts by itself."""
        if self.environment.runs == "automatic":
            return None
        named: dict[SpecId, tuple[StartedRun, ...]] = {}
        for each in self.environment.start:
            spec = self.named(each)
            named[spec] = (*named.get(spec, ()), each)
        return named

    def named(self, entry: StartedRun) -> SpecId:
        """Return the spec that an entry of `start` names."""
        return SpecId(entry.kind, entry.namespace or self._namespace, entry.name)

    def includes(self, path: str) -> bool:
        """Whether a file of specs, named by its path relative to the repository, belongs to the environment."""
        return file_patterns.chosen(path, self.environment.only)

    def patched(self, document: Document, report: Report) -> Document:
        """Return the document of a spec with the environment's patches; problems of the patches go to `report`."""
        changed, found = apply(document, self.patches, self.source.file, self._namespace)
        report.add_findings(self.source, found)
        return changed

    def check(self, files: Collection[str], specs: Collection[SpecId], report: Report) -> None:
        """Report what matches nothing: SP803 for patches, SP804 for patterns of `only`, SP805 for specs in `start`.

        `files` are the paths of all files of specs, relative to the repository, also of those that are not in this
        environment; `specs` are all specs of the environment, also those with errors. The findings are at their places
        in the platform file.
        """
        report.add_findings(self.source, [*self._unmatched(files), *self._without_spec(specs), *self._unknown(specs)])

    @property
    def _namespace(self) -> str:
        return str(self.platform.data.get("defaultNamespace", Platform.model_fields["default_namespace"].default))

    def _unmatched(self, files: Collection[str]) -> Iterator[Finding]:
        for index in file_patterns.unmatched(self.environment.only, files):
            message = f'The pattern "{self.environment.only[index]}" fits no file of specs.'
            hint = "Correct or remove it. Patterns are relative to the repository, as in specs/prod-*.yaml."
            yield finding("SP804", (*self.path, "only", index), message, hint)

    def _unknown(self, specs: Collection[SpecId]) -> Iterator[Finding]:
        for index, each in enumerate(self.environment.start):
            spec = self.named(each)
            if spec not in specs:
                message = f"{self.environment.name} has no {spec}, so there is no run of it to start."
                same = [known.name for known in specs if known.kind == each.kind]
                hint = did_you_mean(each.name, same) if same else "Correct or remove the entry."
                yield finding("SP805", (*self.path, "start", index), message, hint)

    def _without_spec(self, specs: Iterable[SpecId]) -> Iterator[Finding]:
        known = sorted(specs)
        for patch in self.patches:
            target = patch.given.target
            if not any(matches(target, spec) for spec in known):
                same = [spec.name for spec in known if spec.kind == target.kind]
                hint = did_you_mean(target.name, same) if target.name and same else "Correct or remove the patch."
                message = f"The patch matches no spec of the environment {self.environment.name}."
                yield finding("SP803", (*patch.path, "target"), message, hint)


def targets(source: Document, platform: Platform, applications: Mapping[str, str]) -> tuple[Target, ...]:
    """Return all targets of a platform file without errors, in the order of the file.

    `applications` has the name of the Argo CD objects in the committed output of targets, by the name of the target. A
    name without the environment is kept: another name of Applications that are there already would make Argo CD delete
    them.
    """
    found = [
        _target(source, ("environments", index), environment, cluster, applications)
        for index, environment in enumerate(platform.environments)
        for cluster in (*environment.clusters, *(() if environment.clusters else (None,)))
    ]
    return tuple(found) or (Target.whole(source),)


def names(source: Document) -> list[str]:
    """Return the names of all targets of a platform file without errors, `source` as it is written."""
    environments = source.data.get("environments") or ()
    found = [
        "/".join([each["name"], *([cluster["name"]] if cluster else [])])
        for each in environments
        for cluster in (each.get("clusters") or [None])
    ]
    return found or [""]


def _target(
    source: Document,
    path: FieldPath,
    environment: Environment,
    cluster: Cluster | None,
    applications: Mapping[str, str],
) -> Target:
    node, _ = source.root.nearest(path)
    data = {key: value for key, value in source.data.items() if key != "environments"}
    whole = source.root
    root = Node(data, whole.mark, whole.key_mark, {key: whole.child(key) or whole for key in data})
    for key, holder in (("set", ()), ("policy", ("policy",))):
        own = node.child(key)
        if own is not None:
            root = _merged(root, own.data, own, holder)
    place = node.nearest(("clusters", environment.clusters.index(cluster)))[0] if cluster else node
    parts = [environment.name, *([cluster.name] if cluster else [])]
    before = _given(root.data, "name")
    adopted = applications.get("/".join(parts)) == before
    own_argocd = _argocd(root.data, parts, cluster) | ({"name": before} if adopted else {})
    root = _merged(root, own_argocd, _with_destination(place), ("argocd",))
    patches = tuple(
        Patch(each, (*path, "patches", index), source.root.nearest((*path, "patches", index))[0])
        for index, each in enumerate(environment.patches)
    )
    return Target("/".join(parts), environment, source, path, replace(source, given=root), patches, adopted)


def _with_destination(node: Node) -> Node:
    """Return the node of a cluster with its server as in `argocd`, at `destination.server`."""
    server, below = node.child("server"), node.children
    if server is None or not isinstance(below, dict):
        return node
    destination = Node({"server": server.data}, server.mark, server.key_mark, {"server": server})
    return replace(node, children={**below, "destination": destination})


def _merged(root: Node, patch: dict[str, Any], node: Node, holder: tuple[str, ...]) -> Node:
    """Return the platform's nodes with `patch`, whose node is `node`, merged over the field `holder`, or over all."""
    whole = {holder[0]: patch} if holder else patch
    positions = Node(whole, node.mark, node.key_mark, {holder[0]: node}) if holder else node
    return placed(merged(root.data, whole, None), root, positions, positions)


def _argocd(data: dict[str, Any], parts: Sequence[str], cluster: Cluster | None) -> dict[str, Any]:
    """Return the fields of `argocd` of the target `parts` that differ from those of the platform file `data`."""
    own: dict[str, Any] = {
        "name": "-".join([_given(data, "name"), *parts]),
        "path": "/".join([_given(data, "path").rstrip("/"), *parts]).removeprefix("./"),
        "labels": {ENVIRONMENT: parts[0], **({CLUSTER: cluster.name} if cluster else {})},
    }
    if cluster:
        own["labels"] = {**cluster.labels, **own["labels"]}
        if cluster.server:
            own["destination"] = {"server": cluster.server, "name": None}
    return own


def _given(data: dict[str, Any], field: str) -> str:
    """Return a field of `argocd` in the platform file `data`, or its default."""
    return str(data.get("argocd", {}).get(field, ArgoCD.model_fields[field].default))
