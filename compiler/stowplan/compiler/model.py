"""The values that the stages of the pipeline pass to each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import quote

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import PLATFORM_FILES, SYNTH
from stowplan.library.manifest import ExternalReference, Manifest
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.platform.platform import Platform


@dataclass(frozen=True, slots=True)
class Spec:
    """A document that was validated into its model.

    `digest` covers its content, `run_digest` what its run depends on, and `place` where its data is: see `Digests`. A
    committed run is reused while its `run_digest` is unchanged. After `resolve`, the first two also cover the dataset
    of a task.
    """

    id: SpecId
    document: Document
    model: CustomResource
    digest: str
    run_digest: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """All specs of one command, sorted by identity, with the platform.

    `passed_through` are the plain objects: documents with Kubernetes objects that are written as they are, because
    `passThrough` of the platform file lists their kinds.
    """

    platform: Platform
    platform_document: Document
    specs: tuple[Spec, ...]
    passed_through: tuple[Document, ...] = ()
    secret_keys: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Keys of the Secrets that the repository defines, by namespace and name of the Secret; values are never read."""
    refused: frozenset[SpecId] = frozenset()
    """Identities of the specs whose documents have errors."""
    incomplete: bool = False
    """Whether a file could not be read, so that there may be specs that nobody knows of."""
    app: str = ""
    """The path of the Python file whose app this is, relative to the repository; empty for the command line."""

    @property
    def platform_file(self) -> str:
        """The path of the platform file, relative to the repository."""
        return self.platform_document.file

    @property
    def other_platform(self) -> str:
        """The path of the platform file if the option `--platform` named it; empty if it has one of the usual names."""
        return "" if self.platform_file in PLATFORM_FILES else self.platform_file

    @property
    def command(self) -> str:
        """The command that writes the output again, in the folder of the repository."""
        if self.app:
            return f"python {quote(self.app)}"
        return f"{SYNTH} --platform {quote(self.other_platform)}" if self.other_platform else SYNTH

    def spec(self, identity: SpecId) -> Spec | None:
        """Return the spec with this identity; None if there is none."""
        return next((spec for spec in self.specs if spec.id == identity), None)


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file to write below the output folder.

    `path` is relative to the output folder, with forward slashes. `spec` is None for objects that belong to no spec:
    those of the platform file (such as CRDs), plain objects, and those of extensions. `source` is the user's file that
    the header of the file names.
    """

    path: str
    manifest: Manifest
    spec: SpecId | None
    source: str
    spec_digest: str = ""
    """The `run_digest` of the spec; of an object that copies outputs, see `output_layout`."""
    externals: tuple[ExternalReference, ...] = ()
    """What the objects of the spec refer to and the output does not have, such as Secrets."""
    compiled: str = ""
    """The compiler mark of a file of a run, see `compiler_mark`; for a reused file, the one in the inventory."""
    reused: bytes = b""
    """The committed file if the run is reused, otherwise empty; `manifest` is then the object in that file."""
    command: str = SYNTH
    """The command in the header of the file, see `Program.command`."""
    content_digest: str = ""
    """The `digest` of the spec, which inventories of version 0.1.0 have as `spec_digest`."""

    @property
    def id(self) -> ObjectId:
        """The identity of the object in a cluster."""
        return self.manifest.id

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests by which inventories know the run of this spec; empty if the output belongs to no spec."""
        return tuple(dict.fromkeys(each for each in (self.spec_digest, self.content_digest) if each))
