"""The checks of specs that constructs stand for: those of documents, and those of the objects of one spec."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stowplan.compiler.checks.spec_stage import check, definitions
from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import Mark
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.lowering import output_layout
from stowplan.compiler.specs.validate import examine
from stowplan.library.manifest import Unit
from stowplan.schema.diagnostics import Finding, Severity, dotted
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.platform.platform import Platform

if TYPE_CHECKING:
    from stowplan.library.constructs import Written


class AppChecks:
    """The `Checks` of `stowplan.library.constructs` that the command line makes.

    `prepared` returns a document with the patches of an environment and with pins, as `Sources.prepared` does.
    """

    def __init__(self, prepared: Callable[[Document, Report], Document]) -> None:
        self._prepared = prepared

    def read(self, written: "Written", platform: Platform) -> tuple[CustomResource | None, Sequence[Finding]]:
        # What is wrong with patches and pins is said when the whole program is read.
        spec, found = examine(self._prepared(document_of(written, 0), Report()), platform)
        return spec.model if spec else None, found

    def problems(self, written: "Written", unit: Unit, platform: Platform) -> list[str]:
        spec, _ = examine(self._prepared(document_of(written, 0), Report()), platform)
        outputs = output_layout.of_specs([unit], [spec]) if spec else []
        parts = check(outputs, platform, definitions((), platform.kubernetes_version), {})
        said = (each for part in parts for each in part.findings if each.found.severity is Severity.ERROR)
        return [f"{x.object}: {x.found.code}: {dotted(x.found.path)}: {x.found.message} {x.found.hint}" for x in said]


def document_of(written: "Written", index: int) -> Document:
    """Return the document of a spec that a construct stands for: all of it is at the line that made the construct."""
    root = Node.at(dict(written.document), Mark(written.place.line, 1))
    return Document(written.place.file, index, root, construct=written.construct)
