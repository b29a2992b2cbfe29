"""Files, read and validated by several processes: what comes back are specs as bytes, and what others must know."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from stowplan.compiler.batches import worker_pool
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.incremental.pickled_specs import pack
from stowplan.compiler.model import Spec
from stowplan.compiler.repository.files import Files
from stowplan.compiler.specs import spec_facts
from stowplan.compiler.specs.spec_facts import SpecFacts
from stowplan.compiler.specs.validate import is_spec, read_spec
from stowplan.library.dialects.shared.context import Context
from stowplan.schema.frozen import dataclass
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.platform.platform import Platform

_WORTH = 60_000
"""Bytes of specs, about a hundred of them, from which on more processes gain more time than they take to begin."""

_SHARE = 20_000
"""Bytes that a process reads at a time."""


@dataclass(frozen=True, slots=True)
class Part:
    """What was read of some files, in their order.

    `specs` are packed, in batches; `sets` are those among them that others may refer to. `left` are files that hold
    other things than specs, of which nothing else is here.
    """

    specs: tuple[bytes, ...]
    facts: tuple[SpecFacts, ...]
    sets: Mapping[tuple[str, str], SampleSet]
    said: tuple[Diagnostic, ...]
    left: tuple[str, ...]


def worth(contents: Mapping[str, bytes]) -> bool:
    """Whether files are worth more than one process."""
    return sum(map(len, contents.values())) >= _WORTH


def read(contents: Mapping[str, bytes], platform: Platform, size: int, processes: int) -> list[Part] | None:
    """Read files by so many processes; None where anything is wrong with them, or nothing is in them.

    Specs are packed by at most `size`.
    """
    work = partial(_part, contents=contents, platform=platform, size=size)
    parts = list(worker_pool.mapped(work, list(_shares(contents)), processes))
    sound = [part for part in parts if part]
    found = any(part.facts or part.left for part in sound)
    return sound if found and len(sound) == len(parts) else None


def examples(contents: Mapping[str, bytes], platform: Platform) -> list[Spec]:
    """A sound spec of most kinds that are there, found by how files are usually written."""
    reader = Files(Path(), Report(), contents)
    files: set[str] = set()
    for kind in KINDS:
        line = f"\nkind: {kind}\n".encode()
        files.update(islice((name for name, content in contents.items() if line in content), 1))
    documents = [document for name in sorted(files) for document in reader.read(name) or () if is_spec(document)]
    specs = (read_spec(document, platform, Report()) for document in documents)
    return list({spec.id.kind: spec for spec in specs if spec}.values())


def _shares(contents: Mapping[str, bytes]) -> Iterator[Sequence[str]]:
    """The files in their order, in shares of some bytes."""
    share: list[str] = []
    size = 0
    for name, content in contents.items():
        share.append(name)
        size += len(content)
        if size >= _SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _part(names: Iterable[str], contents: Mapping[str, bytes], platform: Platform, size: int) -> Part | None:
    report, context = Report(), Context(platform, "")
    files = Files(Path(), report, contents)
    specs: list[Spec] = []
    left: list[str] = []
    for name in names:
        documents = files.read(name) or []
        if all(map(is_spec, documents)):
            specs += [spec for document in documents if (spec := read_spec(document, platform, report))]
        else:
            left.append(name)
    if report.failed:
        return None
    return Part(
        tuple(pack(specs[start : start + size]) for start in range(0, len(specs), size)),
        tuple(spec_facts.of_spec(spec, context) for spec in specs),
        {(spec.id.namespace, spec.id.name): spec.model for spec in specs if isinstance(spec.model, SampleSet)},
        tuple(each for each in report.diagnostics if each.location.file not in left),
        tuple(left),
    )
