"""The form of labels, for fields that hold them outside of Kubernetes' own types."""

import re

from stowplan.library.names import LABEL_LIMIT, SUBDOMAIN_LIMIT

VALUE_FORM = f"at most {LABEL_LIMIT} letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"

_WORD = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*")


def is_label_value(text: str) -> bool:
    """Whether a label may have this value. It may be empty."""
    return not text or _is_word(text)


def is_label_key(text: str) -> bool:
    """Whether a label may be called so: a name, and before it a domain and a slash or nothing."""
    prefix, slash, name = text.rpartition("/")
    return _is_word(name) and (not slash or (len(prefix) <= SUBDOMAIN_LIMIT and _PREFIX.fullmatch(prefix) is not None))


def _is_word(text: str) -> bool:
    return len(text) <= LABEL_LIMIT and _WORD.fullmatch(text) is not None
