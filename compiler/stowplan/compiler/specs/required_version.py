"""The versions of Stowplan that a platform file allows."""

from importlib.metadata import version
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.wording import describe, found_but


def findings(data: dict[str, Any]) -> list[Finding]:
    """Return a finding if `requires` of a platform file excludes this version of Stowplan, or is no range.

    Version ranges are those of https://packaging.python.org/en/latest/specifications/version-specifiers/. A development
    version such as 0.2.0.dev0 counts as the release that it becomes, 0.2.0, and as itself. Empty if `requires` is
    missing or not a string, which the model of the platform file reports.
    """
    wanted = data.get("requires")
    if not isinstance(wanted, str):
        return []
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
