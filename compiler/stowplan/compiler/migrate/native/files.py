"""`stowplan migrate --to native`: the specs of a set of files, migrated together."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from stowplan.compiler.diagnostics.report import Report, diagnose
from stowplan.compiler.migrate.native import repository
from stowplan.compiler.migrate.native.document import rewritten
from stowplan.compiler.migrate.native.draft import Draft, draft, omitted
from stowplan.compiler.migrate.native.kinds.registry import PLANS
from stowplan.compiler.migrate.native.references import settled
from stowplan.compiler.migrate.native.repository import SpecText
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import SpecId


def migrated(texts: Mapping[str, str], report: Report) -> dict[str, str]:
    """Return the new contents of the files that change, by path. `texts` are the contents of all files.

    Findings are reported. If a spec has errors, nothing changes, because it could refer to any other.
    """
    homes = {name: repository.home_of(name) for name in texts}
    changed: dict[str, str] = {}
    for home in dict.fromkeys(homes.values()):
        changed |= _of_repository(home, {name: texts[name] for name in texts if homes[name] == home}, report)
    return {} if report.failed else changed


def _of_repository(home: Path | None, texts: Mapping[str, str], report: Report) -> dict[str, str]:
    site = repository.platform(home, report)
    beside = repository.texts_beside(home, texts, report)
    parts = {name: list(repository.parts(text, name, site, report)) for name, text in texts.items()}
    others = [part.spec for name, text in beside.items() for part in repository.parts(text, name, site, report)]
    if report.failed:
        return {}
    own = [part for each in parts.values() for part in each]
    scope = Scope(site, (*(part.spec for part in own), *others))
    legacy = {part.spec.id: part for part in own if part.spec.id.kind in PLANS}
    drafts, sources = _drafts(list(legacy.values()), scope)
    kept, lost = settled(drafts, scope)
    refused = [(each, problem) for each in drafts for problem in each.refused]
    for each, problem in (*refused, *lost):
        report.add(diagnose(legacy[each.spec.id].given, problem))
    for each in kept.values():
        report.add(*(diagnose(legacy[each.spec.id].given, found) for found in (_became(each), *omitted(each))))
    new = {name: _spliced(texts[name], parts[name], {key: sources[key] for key in kept}) for name in texts}
    return {name: text for name, text in new.items() if text != texts[name]}


def _drafts(parts: Sequence[SpecText], scope: Scope) -> tuple[list[Draft], dict[SpecId, str]]:
    """Return the drafts of all specs, and the new sources of those that can be carried out, by identity."""
    drafts: list[Draft] = []
    sources: dict[SpecId, str] = {}
    for part in parts:
        found = draft(part.spec, scope)
        if not found.refused:
            source = rewritten(part.source, found.plan) if part.source is not None else None
            if source is None:
                found = Draft(found.spec, found.plan, (_by_hand(),))
            else:
                sources[part.spec.id] = source
        drafts.append(found)
    return drafts, sources


def _by_hand() -> Finding:
    message = "The document holds anchors, aliases, tags or directives, which a rewriting could lose."
    return finding("SP427", ("kind",), message, "Write it without them, or rewrite it by hand.")


def _became(each: Draft) -> Finding:
    old, new = each.spec.id, each.id
    message = f"{old} becomes {new}. {each.plan.change}"
    return finding("SP429", ("kind",), message, "Read `stowplan explain SP429` before you commit the change.")


def _spliced(text: str, parts: Sequence[SpecText], sources: Mapping[SpecId, str]) -> str:
    """Return the content of a file with new sources of some of its specs, in the file's line ends."""
    broken = "\r\n" if "\r\n" in text else "\n"
    for part in reversed(parts):
        if part.spec.id in sources:
            source = sources[part.spec.id].replace("\n", broken)
            head = broken if part.start and text[part.start - 1] != "\n" else ""
            text = f"{text[: part.start]}{head}{source}{text[part.end :]}"
    return text
