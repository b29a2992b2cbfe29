"""The location in the user's files for each finding about an object of the output."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Location, is_platform_file
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.kubernetes.fields import identity
from stowplan.compiler.model import Program
from stowplan.library.dialects.reading.api import RolePod
from stowplan.library.dialects.registry import reading
from stowplan.schema.diagnostics import Anchor, FieldPath, dotted
from stowplan.schema.meta import ObjectId, SpecId

_NAME: FieldPath = ("metadata", "name")


Templates = Mapping[ObjectId, tuple[RolePod, ...]]
"""The pod templates of training jobs by the object that holds them."""


class Places:
    """Locates findings in the user's files. The positions of a document are read only if a finding is located in it."""

    def __init__(self, program: Program, templates: Templates) -> None:
        self._program = program
        self._templates = templates

    def diagnostic(self, found: ObjectFinding) -> Diagnostic:
        """Return the finding as a diagnostic in the user's file.

        In a plain object or in the user's pod template, it is located at the field itself; otherwise at the first of
        the `edits`, or at the name of the spec. Without a document it is at the start of `source` or, if that is
        empty, of the platform file.
        """
        plain = self._plain.get(found.object) if found.spec is None else None
        document = plain or (self._specs.get(found.spec) if found.spec else None)
        edits = sorted(found.edits, key=document.locate) if document else []
        own = found.found.path if plain else self._in_template(found, document)
        path = own if own is not None else edits[0] if edits else _NAME if document else ()
        anchor = found.found.anchor if own is not None else Anchor.VALUE
        field = "" if found.found.path in (path, _NAME) else dotted(found.found.path)
        subject = f"{found.object}, {field}" if field else str(found.object)
        return Diagnostic(
            found.found.code,
            found.found.severity,
            document.locate(path, anchor) if document else self._without_document(found.source),
            dotted(path),
            f"{subject}: {found.found.message}",
            found.found.hint,
        )

    def _in_template(self, found: ObjectFinding, document: Document | None) -> FieldPath | None:
        """Return the path in the user's document for a field of a compiled pod; None for any other field."""
        path = found.found.path
        if found.spec and document:
            for pod in self._templates.get(found.object, ()):
                if len(path) > len(pod.path) and path[: len(pod.path)] == pod.path:
                    return reading(found.spec.kind).field(path[len(pod.path) :], pod, document.data)
        return None

    def _without_document(self, source: str) -> Location:
        """Return the location for an object without a document: of an extension or the platform file, or removed.

        It is the start of `source`, the user's file, or of the platform file if `source` is empty.
        """
        if not source or is_platform_file(source):
            return self._program.platform_document.locate(())
        return Location(source, 1, 1)

    @cached_property
    def _specs(self) -> dict[SpecId, Document]:
        return {spec.id: spec.document for spec in self._program.specs}

    @cached_property
    def _plain(self) -> dict[ObjectId, Document]:
        return dict(_plain_objects(self._program))


def _plain_objects(program: Program) -> Iterator[tuple[ObjectId, Document]]:
    """Yield pairs of identity and document for each plain object of a user.

    Each object comes twice: with its own namespace, and with the default namespace if it has none.
    """
    for document in program.passed_through:
        own = identity(document.data)
        yield own, document
        yield own._replace(namespace=own.namespace or program.platform.default_namespace), document
