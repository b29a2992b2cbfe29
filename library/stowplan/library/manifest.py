"""Manifests, complete Kubernetes objects as plain data, and the named parts of what a spec compiles to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from stowplan.schema.meta import ObjectId, SpecId

Json = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """One Kubernetes object.

    `body` is the object as plain data. It is never changed; a changed object is a new manifest. `stem` is the object's
    name without a hash at its end. It names the file, so that a new hash is an edit of the same file. `run` is True for
    objects of a run: Jobs, and objects that only these Jobs use. They are compiled once, and the committed ones are
    reused until their spec changes. `clustered` is True for an object of a spec that has no namespace; an object that
    names none otherwise gets that of its chart.
    """

    body: Json
    stem: str
    run: bool = False
    clustered: bool = False

    def __init__(self, body: Json, stem: str, run: bool = False, clustered: bool = False) -> None:  # noqa: FBT001, FBT002 - fields
        # Same effect as `frozen`, without a call for each field, in a third of the time: each spec has several
        # manifests.
        self.__dict__.update(body=body, stem=stem, run=run, clustered=clustered)

    @property
    def api_version(self) -> str:
        return str(self.body["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Namespace; empty for cluster-scoped kinds, and before its chart gives it that of its spec."""
        return str(self.body["metadata"].get("namespace", ""))

    @property
    def group(self) -> str:
        """API group; empty for the core group."""
        return group_of(self.api_version)

    @cached_property
    def id(self) -> ObjectId:
        body, metadata = self.body, self.body["metadata"]
        namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
        return ObjectId(group_of(str(body["apiVersion"])), str(body["kind"]), namespace, name)

    @property
    def wave(self) -> int:
        """Argo CD's sync wave; 0 without the annotation."""
        return int(self.body["metadata"].get("annotations", {}).get(WAVE_ANNOTATION, "0"))


WAVE_ANNOTATION = "argocd.argoproj.io/sync-wave"


def group_of(api_version: str) -> str:
    """Return the group of an API version: `batch` of `batch/v1`, the empty string of `v1`."""
    return api_version.rpartition("/")[0]


class ExternalReference(NamedTuple):
    """Object that manifests reference and the output does not define: a Secret, a claim, a queue.

    `namespace` is empty for cluster-scoped kinds. `keys` are the required data keys of a Secret.
    """

    kind: str
    namespace: str
    name: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part that has a name, such as `sync`: objects of its own, and smaller parts. Each part becomes a construct.

    No two parts of one chart or part have the same name.
    """

    name: str
    own: tuple[Manifest, ...] = ()
    parts: tuple["Part", ...] = ()

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Its own objects, and then those of its parts."""
        return (*self.own, *(manifest for part in self.parts for manifest in part.manifests))


@dataclass(frozen=True, slots=True)
class Unit:
    """Result of compiling one spec: no parts if it has errors. `externals` is sorted."""

    spec: SpecId
    parts: tuple[Part, ...]
    externals: tuple[ExternalReference, ...] = ()

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All objects, in the order of the parts."""
        return tuple(manifest for part in self.parts for manifest in part.manifests)
