"""Comparison of a peer's output with Stowplan's, as sets of documents."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.bench.compile.templates import Words, documents
from tests.bench.compile.workload import Spec

SHOWN = 200
"""Characters before and after the first difference."""


def compare(name: str, words: Words, out: Path, other: Path, specs: Iterable[Spec]) -> None:
    """Ends the bench where they differ. What Stowplan writes once for all specs is left out."""
    wanted = Counter(words.masked(_canonical(each)) for spec in specs for each in documents(out, spec))
    found = Counter(_canonical(each) for path in other.rglob("*") if path.is_file() for each in _read(path))
    if wanted != found:
        ours, theirs = (min((a - b).elements(), default="none") for a, b in ((wanted, found), (found, wanted)))
        same = next((index for index, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0)
        around = slice(max(0, same - SHOWN), same + SHOWN)
        sys.exit(f"{name} gave other documents.\nOurs: {ours[around]}\nTheirs: {theirs[around]}")


def _read(path: Path) -> Iterator[Any]:
    for each in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader):
        yield from each["items"] if each["kind"] == "List" else [each]


def _canonical(document: Any) -> str:
    return json.dumps(document, sort_keys=True)
