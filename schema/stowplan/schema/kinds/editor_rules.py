"""Parts of rules that only editors apply: patterns of strings, and fields that a document needs.

The models and the CRDs do not have them. A CRD must accept whatever the API server of the old system accepted, and the
compiler explains these mistakes better than a pattern can. A rule is never stricter than the compiler: the tests
hold all valid cases against it.
"""

from collections.abc import Iterable
from typing import Any

from stowplan.schema.juicefs.options import STORAGES
from stowplan.schema.meta import MOST_NODES

Schema = dict[str, Any]

LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"


def pattern(pattern: str, message: str) -> Schema:
    """Return the rule that a whole string fits `pattern`. Editors of the VS Code family show the message instead."""
    return {"pattern": f"^({pattern})$", "patternErrorMessage": message}


def _cron() -> str:
    """Return the pattern of a cron expression, as the compiler reads it: five fields, a word, or `@every`."""
    months, days = "[A-Za-z]{3}", "[A-Za-z]{3}"
    numbers = ("0*[0-5]?[0-9]", "0*(1?[0-9]|2[0-3])", "0*([1-9]|[12][0-9]|3[01])", f"0*([1-9]|1[0-2])|{months}")
    fields = []
    for value in (*numbers, f"0*[0-6]|{days}"):
        part = f"(\\*|\\?|{value})(-({value}))?(/[0-9]+)?"
        fields.append(f"{part}(,{part})*")
    every = "@every ([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+"
    words = "@(yearly|annually|monthly|weekly|daily|midnight|hourly)"
    blanks = "\\s+".join(fields)
    return f"\\s*{blanks}\\s*|{words}|{every}"


SUBDOMAIN = pattern(
    f"{LABEL}(\\.{LABEL})*", "A name has lower-case letters, digits, - and ., with a letter or digit at both ends."
)
SCHEDULE = pattern(_cron(), "A schedule is a cron expression with five fields, such as 0 3 * * *, or a word: @daily.")
URI = pattern(
    f"({'|'.join(sorted(STORAGES - {'file'}))})://(?!\\S*://)/*[^/\\s]\\S*",
    "The address of a storage is NAME://BUCKET[.ENDPOINT][/PREFIX], such as s3://bucket.s3.example.com/train/.",
)
MOUNT_PATH = pattern("/+[^/:][^:]*", "A mount path begins with /, is not the root, and holds no colon.")


def needs(*fields: str) -> Schema:
    """Return a rule for a mapping that needs all of these fields."""
    return {"required": list(fields)}


def where(field: str, value: object) -> Schema:
    """Return a rule for a mapping that needs `field` with this value."""
    return {"required": [field], "properties": {field: {"const": value}}}


def below(field: str, rule: Schema) -> Schema:
    """Return a rule for a mapping that needs `field`, and `rule` for the field's value."""
    return {"required": [field], "properties": {field: {"type": "object"} | rule}}


def one_of(rules: Iterable[Schema]) -> Schema:
    """Return a rule that is kept if one of the rules is."""
    first, *others = rules
    return {"anyOf": [first, *others]} if others else first


POD: Schema = below("template", below("spec", below("containers", {"type": "array", "minItems": 1})))
ROLE_POD: Schema = {"if": {"required": ["replicas"], "properties": {"replicas": {"minimum": 1}}}, "then": POD}
ONE: Schema = {"minProperties": 1, "maxProperties": 1}
PODS: Schema = {"minimum": 1, "maximum": MOST_NODES}
