"""The specs that are migrated together: those of the given files, and the others of the same repository."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import PLATFORM_FILES
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.migrate.migration import migrate
from stowplan.compiler.migrate.native.kinds.registry import PLANS
from stowplan.compiler.model import Spec
from stowplan.compiler.repository import load
from stowplan.compiler.specs import platform as platform_file
from stowplan.compiler.specs import validate
from stowplan.compiler.yaml import reader
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.parse_model import read
from stowplan.schema.platform.platform import Platform


@dataclass(frozen=True, slots=True)
class SpecText:
    """One spec in a file: where its document starts and ends in the text, in characters, and its canonical source.

    `given` is the document with the positions of the file; that of `spec` is in canonical spelling. `source` is None if
    the spelling can only be corrected by hand.
    """

    start: int
    end: int
    source: str | None
    given: Document
    spec: Spec


def platform(home: Path | None, report: Report) -> Platform:
    """Return the platform of the repository in `home`; the defaults for None, and after errors, which are reported."""
    names = [(home / name).as_posix() for name in PLATFORM_FILES if (home / name).exists()] if home else []
    own = Report()
    for name, text in load.texts(names[:1], own).items():
        documents, _ = reader.read(text, name)
        found = platform_file.platform(documents[0], own) if documents else Platform()
        if found is not None and not own.failed:
            return found
    report.add(*(each for each in own.diagnostics if own.failed))
    return Platform()


def home_of(name: str) -> Path | None:
    """Return the nearest folder above the file `name` that holds a platform file; None if there is none."""
    folders = Path(name).resolve().parents
    return next((each for each in folders if any((each / name).is_file() for name in PLATFORM_FILES)), None)


def parts(text: str, name: str, site: Platform, report: Report) -> Iterator[SpecText]:
    """Yield the specs without errors in the file `name` with the content `text`. Findings about them are reported."""
    documents, problems = reader.read(text, name)
    report.add(*problems)
    spans = [] if problems else list(_spans(text))
    for document in documents if spans else ():
        start, end = spans[document.index]
        spec = _spec(document, site, report) if validate.is_spec(document) else None
        if spec is None:
            continue
        old = text[start:end].replace("\r\n", "\n")
        spelling = migrate(old, name)
        by_hand = any(each.severity == "error" for each in spelling.diagnostics)
        source = None if by_hand else spelling.text or old
        canonical = reader.read(source or old, name)[0][0]
        yield SpecText(start, end, source, document, replace(spec, document=canonical))


def _spec(document: Document, site: Platform, report: Report) -> Spec | None:
    """Return the spec in a document; None if it has errors, which are reported unless its kind is a native one."""
    kind = document.data["kind"]
    if kind in PLANS:
        return validate.read_spec(document, site, report)
    model, _ = read(KINDS[kind].model, document.data)
    return Spec(validate.identity_of(document, site.default_namespace), document, model, "") if model else None


def texts_beside(home: Path | None, files: Iterable[str], report: Report) -> Mapping[str, str]:
    """Return the contents by path of the spec files of the repository `home` except `files`; none if `home` is None."""
    if home is None:
        return {}
    given = {Path(each).resolve() for each in files}
    found = sorted(each for pattern in ("*.yaml", "*.yml") for each in (home / "specs").rglob(pattern))
    return load.texts([each.as_posix() for each in found if each.resolve() not in given and each.is_file()], report)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each document: from the line after its `---`, or from the start of the text, to the next.

    A document that begins on the line of its `---` begins there.
    """
    begins = [
        (each.start_mark.index, each.end_mark.index) if each.explicit else (0, 0)
        for each in yaml.parse(text, yaml.CSafeLoader)
        if isinstance(each, yaml.DocumentStartEvent) and each.start_mark and each.end_mark
    ]
    for index, (_, start) in enumerate(begins):
        line_end = text.find("\n", start)
        on_next_line = start > 0 and line_end >= 0 and not text[start:line_end].partition("#")[0].strip()
        following = begins[index + 1][0] if index + 1 < len(begins) else len(text)
        yield line_end + 1 if on_next_line else start, following
