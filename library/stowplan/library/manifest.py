"""A manifest: one complete Kubernetes object as plain data."""

from functools import cached_property
from typing import Any, NamedTuple

from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import ObjectId, SpecId

Json = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """One Kubernetes object.

    `body` is never changed once a manifest is made; a changed object is a new manifest. `stem` is the name without
    any content hash: it names the file, so that an edit of a hash-named object shows as an edit. `run` marks Jobs and
    what belongs to them: they are compiled once and then kept as long as their spec does not change.
    """

    body: Json
    stem: str
    run: bool = False

    def __init__(self, body: Json, stem: str, run: bool = False) -> None:  # noqa: FBT001, FBT002 - a field
        # What `frozen` would do with a call for each field, in a third of the time: there are several for each spec.
        self.__dict__.update(body=body, stem=stem, run=run)

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
        """The namespace; empty for cluster-scoped kinds."""
        return str(self.body["metadata"].get("namespace", ""))

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
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
    """`batch` of `batch/v1`, the empty string of `v1`."""
    return api_version.rpartition("/")[0]


class ExternalReference(NamedTuple):
    """An object that manifests name and nobody here defines: a Secret, a claim, a queue.

    `keys` are the data keys that are needed, for Secrets.
    """

    kind: str
    namespace: str
    name: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """All that one spec compiles to. `externals` is sorted."""

    spec: SpecId
    manifests: tuple[Manifest, ...]
    externals: tuple[ExternalReference, ...] = ()
