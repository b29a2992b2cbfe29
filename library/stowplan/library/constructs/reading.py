"""Plain data read into the model of its kind."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from stowplan.schema.diagnostics import Finding, dotted, finding, has_errors
from stowplan.schema.meta import Model

AnyModel = TypeVar("AnyModel", bound=Model)

_CODES = {"extra_forbidden": "SP201", "missing": "SP202", "literal_error": "SP204", "string_pattern_mismatch": "SP206"}
_TYPE, _RANGE = "SP203", "SP205"


class SpecError(ValueError):
    """A spec that cannot be compiled. `findings` holds all errors, sorted by path."""

    def __init__(self, subject: str, findings: tuple[Finding, ...]) -> None:
        self.findings = tuple(sorted(findings, key=lambda found: (dotted(found.path), found.code)))
        lines = (f"  {dotted(each.path)}: {each.code}: {each.message} {each.hint}" for each in self.findings)
        super().__init__("\n".join([f"{subject} cannot be compiled:", *lines]))


def read(kind: type[AnyModel], data: AnyModel | Mapping[str, Any]) -> AnyModel:
    """`data` as a model of `kind`. Raises `SpecError`.

    Takes the fields that the CRD has. The command also reads legacy spellings and tells positions in files.
    """
    if isinstance(data, kind):
        return data
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise SpecError(f"This {kind.__name__}", tuple(_findings(error))) from None


def refuse_errors(subject: str, findings: tuple[Finding, ...]) -> None:
    """Raise `SpecError` with the errors among `findings`, if there are any."""
    if has_errors(findings):
        raise SpecError(subject, tuple(found for found in findings if has_errors([found])))


def _findings(error: ValidationError) -> Iterator[Finding]:
    for detail in error.errors(include_url=False, include_context=False):
        yield finding(
            _code(detail["type"]), detail["loc"], f"{_message(detail)}.", "See `stowplan schema` for its form."
        )


def _code(error_type: str) -> str:
    if error_type in _CODES:
        return _CODES[error_type]
    return _TYPE if error_type.endswith("_type") else _RANGE


def _message(detail: ErrorDetails) -> str:
    if detail["type"] in ("extra_forbidden", "missing"):
        return {"extra_forbidden": "This field is not known", "missing": "This field is required"}[detail["type"]]
    return detail["msg"]
