"""The form of labels, for fields that hold them outside of Kubernetes' own types."""

import re
from collections.abc import Iterator, Mapping

from stowplan.library.values.names import LABEL_LIMIT, SUBDOMAIN_LIMIT
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding

VALUE_FORM = f"at most {LABEL_LIMIT} letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"

_WORD = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*")


def is_label_value(text: str) -> bool:
    """Return whether a label may have this value. The empty string is allowed."""
    return not text or _is_word(text)


def is_label_key(text: str) -> bool:
    """Return whether a label may have this key: a name, optionally after a domain and a slash."""
    prefix, slash, name = text.rpartition("/")
    return _is_word(name) and (not slash or (len(prefix) <= SUBDOMAIN_LIMIT and _PREFIX.fullmatch(prefix) is not None))


def label_findings(labels: Mapping[str, object], path: FieldPath) -> Iterator[Finding]:
    """Yield findings about keys and values that no label can have. `path` is the path of `labels`."""
    for key, value in labels.items():
        if not is_label_key(key):
            message = f'"{key}" cannot name a label.'
            hint = "Use a name such as `pool` or `example.com/pool`, at most 63 characters after the slash."
            yield finding("SP210", (*path, key), message, hint, anchor=Anchor.KEY)
        if not isinstance(value, str) or not is_label_value(value):
            yield finding("SP210", (*path, key), f'"{value}" cannot be the value of a label.', f"Use {VALUE_FORM}.")


def _is_word(text: str) -> bool:
    return len(text) <= LABEL_LIMIT and _WORD.fullmatch(text) is not None
