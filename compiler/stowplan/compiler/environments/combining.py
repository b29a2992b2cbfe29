"""One report of the reports of all targets."""

from collections.abc import Sequence
from dataclasses import replace

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.environments.target import names as all_names

_OF_ALL = ("SP903",)
"""Codes of what is only true if it is true of all targets: an entry that one of them uses is used."""


def combined(reports: Sequence[tuple[Target, Report]]) -> Report:
    """Return a report with the diagnostics of all targets, each once.

    A diagnostic of some targets alone names them in its message: environments or, if it is not about all clusters of
    an environment, its clusters. One about `environments` of the platform file needs no name.
    """
    found: dict[Diagnostic, list[Target]] = {}
    for target, report in reports:
        for each in report.diagnostics:
            found.setdefault(each, []).append(target)
    result, everywhere = Report(), [target for target, _ in reports]
    everything = len(everywhere) == len(all_names(everywhere[0].source)) if everywhere else False
    for each, targets in found.items():
        if each.code in _OF_ALL and not (everything and len(targets) == len(everywhere)):
            continue
        own = len(targets) == len(everywhere) or each.field_path.startswith("environments[")
        where = "" if own else f"In {', '.join(_names(targets, everywhere))}: "
        result.add(replace(each, message=f"{where}{each.message}"))
    return result


def _names(targets: Sequence[Target], everywhere: Sequence[Target]) -> list[str]:
    """Return the names of some targets, with one name for all clusters of an environment."""
    names: list[str] = []
    for name in dict.fromkeys(each.environment.name for each in targets):
        own = [each for each in targets if each.environment.name == name]
        number = sum(each.environment.name == name for each in everywhere)
        names += [name] if len(own) == number else [each.name for each in own]
    return names
