"""Check of plain data against a JSON schema, with Stowplan's messages."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS, UniqueKeys
from stowplan.compiler.kubernetes.schema_problem import JsonSchema, SchemaProblem, broken


class Checker:
    """A compiled schema. Build once (milliseconds; `ValueError` if it is invalid), use often (microseconds).

    jsonschema-rs decides whether data is valid; jsonschema, imported for data that is not, says why not.
    """

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        # The linear-time engine for patterns: the API server uses RE2, which has no look-around either.
        options = jsonschema_rs.RegexOptions()
        self._validator = jsonschema_rs.Draft202012Validator(
            schema, validate_formats=True, pattern_options=options, keywords={LIST_MAP_KEYS: UniqueKeys}
        )

    def problems(self, value: Any) -> list[SchemaProblem]:
        """Return all problems of plain data, sorted by path; empty for valid data."""
        try:
            if self._validator.is_valid(value):
                return []
        except UnicodeEncodeError:
            message = "A string holds half of a surrogate pair, which UTF-8 cannot write."
            return [SchemaProblem((), "type", message, "Remove the character.")]
        from stowplan.compiler.kubernetes import refusals  # noqa: PLC0415 - start-up time

        found = refusals.problems(self._schema, value) or set(self._unexplained(value))
        return sorted(found, key=lambda p: ([str(part) for part in p.path], p.keyword, p.message))

    def _unexplained(self, value: Any) -> Iterator[SchemaProblem]:
        """Yield the problems that jsonschema-rs alone finds, such as those where a pattern means less to it."""
        for error in self._validator.iter_errors(value):
            said = broken(error.instance, error.kind.name)
            yield SchemaProblem(tuple(error.instance_path), error.kind.name, *said)
