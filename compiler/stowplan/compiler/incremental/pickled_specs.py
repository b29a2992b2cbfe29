"""Specs as bytes, a tenth of their size: they wait for their turn in this form, and are read where they are compiled.

A forked process that works on live objects makes its own copy of each page of memory that holds one of them, since
Python counts references in the objects themselves.
"""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial

from stowplan.compiler.diagnostics.document import Document, Unread
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Spec
from stowplan.compiler.yaml import reader
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.frozen import dataclass
from stowplan.schema.meta import SpecId


class Texts:
    """Files that were read without errors, as text or as bytes; documents are read again where they are asked for."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self._files = files
        self._last: dict[str, Sequence[Document]] = {}

    def __contains__(self, file: str) -> bool:
        return file in self._files

    def text(self, file: str) -> str:
        """That of a file."""
        found = self._files[file]
        return found if isinstance(found, str) else found.decode("utf-8-sig")

    def named(self, report: Report) -> dict[str, str]:
        """Those of the files that something is said of."""
        named = {each.location.file for each in report.diagnostics}
        return {file: self.text(file) for file in named if file in self}

    def document(self, file: str, index: int) -> Document:
        """The one at `index` of a file. Only those of the last file are kept."""
        if file not in self._last:
            self._last = {file: reader.read(self.text(file), file)[0]}
        return next(each for each in self._last[file] if each.index == index)


def pack(specs: Sequence[Spec]) -> bytes:
    """The content of a `Packed`."""
    return pickle.dumps([_taken_apart(spec) for spec in specs], pickle.HIGHEST_PROTOCOL)


@dataclass(frozen=True, slots=True)
class Packed:
    """Some specs. `digests` are the ones that differ from those they were packed with."""

    content: bytes
    again: Texts
    digests: Mapping[SpecId, str] = field(default_factory=dict)

    def specs(self) -> list[Spec]:
        """They as they were, but that nothing of their documents is there before it is asked for."""
        return [
            Spec(identity, self._document(file, index, refused), model, self.digests.get(identity, digest))
            for identity, file, index, refused, model, digest in pickle.loads(self.content)  # noqa: S301 - our own
        ]

    def _document(self, file: str, index: int, refused: frozenset[FieldPath]) -> Document:
        return Document(file, index, Unread(partial(self.again.document, file, index)), refused)


def _taken_apart(spec: Spec) -> tuple[object, ...]:
    document = spec.document
    return spec.id, document.file, document.index, document.refused, spec.model, spec.digest
