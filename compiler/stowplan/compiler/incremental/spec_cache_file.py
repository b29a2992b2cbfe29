"""What is kept of a run, in a file: first all of it, then what later runs changed of it, one record a run.

A record begins with the run that it belongs to and the one before that. So one that a dead run cut short, or that two
runs wrote at once, is seen, and costs no more than a whole run.
"""

import pickle
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from stowplan.compiler.checks.across_specs.facts import FACT_TYPES, Facts
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.compiler.checks.objects.template_fields import Template
from stowplan.compiler.checks.pods.excess import Excess
from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.incremental.spec_cache import Kept, KeptFile, KeptRest, KeptSpec
from stowplan.compiler.lowering.platform_objects import Place
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.library.dialects.mounted_claims import MountedClaim
from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.schema.diagnostics import Anchor, Finding, Severity
from stowplan.schema.meta import ObjectId, SpecId

MOST_RECORDS = 100
"""Then the file is written anew; so it is where most of it changed."""


class _Record(NamedTuple):
    """`gone` and `files` are the step from the run before to this one; the first record of a file has no such run."""

    run: str
    before: str
    platform: str
    inventory: str
    gone: frozenset[str]
    files: Mapping[str, KeptFile]
    rest: KeptRest | None


_VALUES = (
    *(*FACT_TYPES, Facts, ObjectSummary, Template, Excess),
    *(_Record, KeptFile, KeptRest, KeptSpec, Place, SpecFacts, Write, MountedClaim, ObjectId, SpecId),
    *(ObjectFinding, Finding, Anchor, Severity, Diagnostic, Location, frozenset),
)
_BY_NAME = {(value.__module__, value.__qualname__): value for value in _VALUES}


class _Reader(pickle.Unpickler):
    """Makes these values and no others: a file in a cache folder must not be able to run anything."""

    def find_class(self, module: str, name: str) -> Any:
        """The type of that name."""
        if (module, name) not in _BY_NAME:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _BY_NAME[module, name]


def read(path: Path) -> Kept | None:
    """What the file holds; None where there is none that can be read to its end."""
    try:
        return _joined(_records(path.read_bytes()))
    except Exception:  # Whatever is wrong with it, there is a way without it.
        return None


def write(path: Path, known: Kept | None, kept: Kept) -> None:
    """Make the file hold `kept`; `known` is what it was found to hold. Raises `OSError`."""
    before = known.files if known else {}
    files = {name: file for name, file in kept.files.items() if before.get(name) is not file}
    if known and known.records < MOST_RECORDS and 2 * len(files) < len(kept.files):
        gone = frozenset(before.keys() - kept.files.keys())
        with path.open("ab") as target:
            target.write(_dumped(_Record(kept.run, known.run, kept.platform, kept.inventory, gone, files, kept.rest)))
        return
    temporary = path.with_name(f"{path.name}.new")
    whole = _Record(kept.run, "", kept.platform, kept.inventory, frozenset(), kept.files, kept.rest)
    temporary.write_bytes(_dumped(whole))
    temporary.replace(path)


def _dumped(record: _Record) -> bytes:
    return pickle.dumps(record, protocol=5)


def _records(content: bytes) -> Iterator[_Record]:
    source = BytesIO(content)
    while source.tell() < len(content):
        yield _Reader(source).load()


def _joined(records: Iterator[_Record]) -> Kept | None:
    kept = Kept()
    for each in records:
        if each.before != kept.run:
            return None
        files = {name: file for name, file in kept.files.items() if name not in each.gone} | dict(each.files)
        kept = Kept(each.platform, files, each.inventory, each.rest, each.run, kept.records + 1)
    return kept if kept.records else None
