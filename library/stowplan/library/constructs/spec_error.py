"""The error of a construct whose spec is wrong."""

from collections.abc import Iterable

from stowplan.schema.diagnostics import Finding, dotted, has_errors


class SpecError(ValueError):
    """A spec that cannot be compiled. `findings` holds all its errors, sorted by path. `subject` names the spec."""

    def __init__(self, subject: str, findings: Iterable[Finding]) -> None:
        errors = (found for found in findings if has_errors([found]))
        self.findings = tuple(sorted(errors, key=lambda found: (dotted(found.path), found.code)))
        lines = (f"  {dotted(each.path)}: {each.code}: {each.message} {each.hint}" for each in self.findings)
        super().__init__("\n".join([f"{subject} cannot be compiled:", *lines]))


def refuse_errors(subject: str, findings: Iterable[Finding]) -> None:
    """Raise `SpecError` with the errors among `findings`, if any."""
    found = list(findings)
    if has_errors(found):
        raise SpecError(subject, found)
