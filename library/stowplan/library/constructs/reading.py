"""Functions that validate the spec that a construct gets into its model."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from stowplan.schema.diagnostics import Finding, dotted, has_errors
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.legacy import modernise
from stowplan.schema.parse_model import read
from stowplan.schema.platform.platform import Platform

AnyModel = TypeVar("AnyModel", bound=CustomResource)


class SpecError(ValueError):
    """A spec that cannot be compiled. `findings` holds all its errors, sorted by path. `subject` names the spec."""

    def __init__(self, subject: str, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings, key=lambda found: (dotted(found.path), found.code)))
        lines = (f"  {dotted(each.path)}: {each.code}: {each.message} {each.hint}" for each in self.findings)
        super().__init__("\n".join([f"{subject} cannot be compiled:", *lines]))


def read_spec(
    kind: type[AnyModel], data: AnyModel | Mapping[str, Any], platform: Platform
) -> tuple[AnyModel, list[Finding]]:
    """Return `data` as a model of `kind`, with current spellings for legacy ones, and the findings that are no errors.

    A model is returned as it is, without findings. Raises `SpecError` for wrong fields and types, as the CLI reports
    them. Only the CLI makes two checks: embedded Kubernetes values against the official schemas (SP213), and names,
    labels and annotations (SP210).
    """
    if not isinstance(data, Mapping):
        return data, []
    modern, found = modernise(kind, data)
    model, problems = read(kind, modern, unknown=platform.policy.unknown_fields)
    found += problems
    refuse_errors(f"This {kind.__name__}", found)
    if model is None:
        raise SpecError(f"This {kind.__name__}", found)
    return model, found


def refuse_errors(subject: str, findings: Iterable[Finding]) -> None:
    """Raise `SpecError` with the errors among `findings`, if any."""
    errors = [found for found in findings if has_errors([found])]
    if errors:
        raise SpecError(subject, errors)
