"""Specs as bytes, a tenth of their size: they wait for their turn in this form, and are read where they are compiled.

A forked process that works on live objects makes its own copy of each page of memory that holds one of them, since
Python counts references in the objects themselves.
"""

import pickle
from collections.abc import Mapping, Sequence
from functools import partial

from stowplan.compiler import yaml_reader
from stowplan.compiler.model import Spec
from stowplan.compiler.source import Document, Unread
from stowplan.schema.diagnostics import FieldPath


class Texts:
    """The texts of files that were read without errors; documents are read again where they are asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._last: dict[str, Sequence[Document]] = {}

    def document(self, file: str, index: int) -> Document:
        """The one at `index` of a file. Only those of the last file are kept."""
        if file not in self._last:
            self._last = {file: yaml_reader.read(self._texts[file], file)[0]}
        return next(each for each in self._last[file] if each.index == index)


class Packed:
    """Some specs."""

    def __init__(self, specs: Sequence[Spec], texts: Texts) -> None:
        self._texts = texts
        self._content = pickle.dumps([_taken_apart(spec) for spec in specs], pickle.HIGHEST_PROTOCOL)

    def specs(self) -> list[Spec]:
        """They as they were, but that nothing of their documents is there before it is asked for."""
        return [
            Spec(identity, self._document(file, index, refused), model, digest)
            for identity, file, index, refused, model, digest in pickle.loads(self._content)  # noqa: S301 - our own
        ]

    def _document(self, file: str, index: int, refused: frozenset[FieldPath]) -> Document:
        return Document(file, index, Unread(partial(self._texts.document, file, index)), refused)


def _taken_apart(spec: Spec) -> tuple[object, ...]:
    document = spec.document
    return spec.id, document.file, document.index, document.refused, spec.model, spec.digest
