"""Parsing of the platform file into a `Platform`, with its findings."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.specs import placeholders, platform_rules
from stowplan.library.values import image_reference
from stowplan.schema.diagnostics import Finding, Severity, finding, has_errors
from stowplan.schema.parse_model import read
from stowplan.schema.platform.platform import Platform
from stowplan.schema.wording import describe, found_but


def platform(document: Document, report: Report) -> Platform | None:
    """Return the platform; None if its file could not be read, or has errors, which are in the report."""
    data = document.data
    if () in document.refused:
        return None
    if excluded := other_version(data):
        # Another version may have other fields, so nothing else is said of the file.
        report.add_findings(document, excluded)
        return None
    left_in = [*placeholders.findings(data), *placeholders.templates(data)]
    model, found = read(Platform, document.data)
    notes = [*_notes(model), *platform_rules.findings(model)] if model else []
    found = left_in or [*found, *notes]
    report.add_findings(document, found)
    return None if has_errors(found) or document.refused else model


def _notes(model: Platform) -> Iterator[Finding]:
    if model.images.registry is None:
        message = "`images.registry` is not given, so agent images are named local/stowplan-<agent>."
        hint = (
            "Run `make images REGISTRY=registry.example.com/ml` in a clone of Stowplan, push the images to that"
            " registry, and name it here."
        )
        severity = Severity.WARNING if model.argocd.repo_url else None
        yield finding("SP606", ("images",), message, hint, severity=severity)
    if image_reference.moves(model.images.tag):
        message = f"With the tag `{model.images.tag}`, a pod may run another version tomorrow."
        yield finding("SP607", ("images", "tag"), message, "Name a version, or give `images.digests`.")
    if model.images.require_digests:
        yield from _without_digest(model)
    if model.argocd.repo_url is None:
        message = "`argocd.repoURL` is not given, so no Argo CD objects are written."
        yield finding("SP536", ("argocd",), message, "Name the Git repository that holds the output.")
    if model.juicefs.task_user == 0:
        message = "Tasks run as root, which Pod Security `restricted` and `baseline` namespaces may refuse."
        hint = "Leave it at 65532 unless the old privileged runtime wrote the files of your volumes."
        yield finding("SP602", ("juicefs", "taskUser"), message, hint)
    if model.argocd.destination.name and model.argocd.destination.server:
        message = "A destination has a `name` or a `server`, not both."
        yield finding("SP601", ("argocd", "destination", "name"), message, "Remove one of them.")


def _without_digest(model: Platform) -> Iterator[Finding]:
    """Yield one finding that names all agents whose image has no digest; without it, each spec would report them."""
    digests = model.images.digests
    missing = [name for name in type(digests).model_fields if getattr(digests, name) is None]
    if missing:
        message = f"`images.requireDigests` is true, but the images of these agents have none: {', '.join(missing)}."
        hint = "Give each of them a digest in `images.digests`, or remove `requireDigests`."
        yield finding("SP608", ("images", "requireDigests"), message, hint)


def other_version(data: dict[str, Any]) -> list[Finding]:
    """Return a finding if `requires` of a platform file excludes this version of Stowplan, or is no range.

    Version ranges are those of https://packaging.python.org/en/latest/specifications/version-specifiers/. A development
    version such as 0.2.0.dev0 counts as the release that it becomes, 0.2.0, and as itself. Empty if `requires` is
    missing or not a string, which the model of the platform file reports.
    """
    wanted = data.get("requires")
    if not isinstance(wanted, str):
        return []
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - start-up time
    from packaging.version import Version  # noqa: PLC0415

    try:
        allowed = SpecifierSet(wanted)
    except InvalidSpecifier:
        return [finding("SP206", ("requires",), *found_but(describe(wanted), "a range of versions such as >=0.2,<1"))]
    own = version("stowplan")
    if any(allowed.contains(each, prereleases=True) for each in (own, Version(own).base_version)):
        return []
    message = f"This repository requires Stowplan {wanted}, and this is {own}, which might write other output."
    hint = "Install a version in this range, or change `requires` together with the output."
    return [finding("SP811", ("requires",), message, hint)]
