"""The values that pass between the stages."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stowplan.compiler.diagnostics.document import Document
from stowplan.library.manifest import ExternalReference, Manifest
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform


@dataclass(frozen=True, slots=True)
class Sources:
    """What `load` read: the platform document (None where it cannot be read) and all others, in path order.

    `texts` holds the string in each file by its relative path, for the excerpts of diagnostics.
    """

    platform: Document | None
    documents: tuple[Document, ...]
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spec:
    """A document that was validated into its model. `digest` covers its content, not its place or layout."""

    id: SpecId
    document: Document
    model: CustomResource
    digest: str


@dataclass(frozen=True, slots=True)
class Program:
    """All specs of one run, sorted by identity, with the platform and the plain objects it lets through."""

    platform: Platform
    platform_document: Document | None
    specs: tuple[Spec, ...]
    passed_through: tuple[Document, ...] = ()
    secret_keys: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Keys of the Secrets that the repository defines, by namespace and name; values are never read."""
    refused: frozenset[SpecId] = frozenset()
    """What documents with errors would have been, where that can be told."""

    def spec(self, identity: SpecId) -> Spec | None:
        """The spec of that identity, if there is one."""
        return next((spec for spec in self.specs if spec.id == identity), None)


@dataclass(frozen=True, slots=True)
class Output:
    """One file to write below the output folder.

    `path` is relative, with forward slashes. `spec` is None for what the platform file alone makes (CRDs, Argo CD
    objects). `source` is the file named in the header.
    """

    path: str
    manifest: Manifest
    spec: SpecId | None
    source: str
    spec_digest: str = ""
    externals: tuple[ExternalReference, ...] = ()
    compiled: str = ""
    """What compiled a file of a run, see `compiler_mark`; for a kept file, what the inventory says."""
    kept: bytes = b""
    """The committed file, where a run is kept as it is; `manifest` then holds what that file says."""

    @property
    def id(self) -> ObjectId:
        return self.manifest.id
