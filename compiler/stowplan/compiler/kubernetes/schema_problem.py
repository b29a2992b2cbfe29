"""One way in which a value does not fit its JSON schema."""

from dataclasses import dataclass
from typing import Any

from stowplan.schema.diagnostics import Anchor, FieldPath
from stowplan.schema.wording import describe

JsonSchema = dict[str, Any]

FORM = "title"
"""Keyword of Stowplan's schemas for a short string, which messages show instead of the rule that failed.

The string is the form that a value must have, or the reason why a field is required.
"""


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One way in which a value does not fit its schema.

    `path` leads from the value's root to the field; for a missing field it ends in its name. `keyword` is the rule of
    JSON Schema that failed: `additionalProperties` for an unknown field, `required`, `type`, `enum`, …
    """

    path: FieldPath
    keyword: str
    message: str
    hint: str

    @property
    def anchor(self) -> Anchor:
        """What the diagnostic is located at: the key of the field if its name is wrong, else the value."""
        return Anchor.KEY if self.keyword in ("additionalProperties", "propertyNames") else Anchor.VALUE


def broken(value: Any, keyword: str) -> tuple[str, str]:
    """Return message and hint for a value that breaks a rule of which there is nothing more to be said."""
    message = f'Found {describe(value)}, which breaks the rule "{keyword}" of its schema.'
    return message, "See the reference of this field."
