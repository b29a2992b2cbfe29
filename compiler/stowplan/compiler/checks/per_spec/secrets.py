"""Is a secret value written in plain text?"""

import re
from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes.fields import items, mapping, strings
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV, VOLUME_SECRET_ENV

_CODE = "SP603"
_SECRET_ENV = frozenset({*VOLUME_SECRET_ENV.values(), *SOURCE_SECRET_ENV.values()})
_PREFIXED = r"(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{36}|github_pat_\w{22,}|glpat-[\w=-]{20}|hf_[A-Za-z0-9]{30})"
"""Access tokens of GitHub, GitLab and Hugging Face, which have prefixes so that scanners find them."""

_MARKS = (b"@", b"PRIVATE KEY", b"ghp_", b"gho_", b"ghr_", b"ghs_", b"ghu_", b"github_pat_", b"glpat-", b"hf_")
_SUSPECT = re.compile(rb"://[^\s/:@]*:[^\s/:@]+@|-----BEGIN [A-Z ]*PRIVATE KEY-----|" + _PREFIXED.encode())
"""Matches JSON in which a string may match one of `_PATTERNS`."""
_PATTERNS = (
    (re.compile(r"://[^\s/:@]*:[^\s/:@]+@"), "an address with a password"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"), "a private key"),
    (re.compile(_PREFIXED, re.ASCII), "an access token"),
)


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings for Secrets with data, secret variables with a literal value, and strings with a password or key.

    Custom resources repeat the user's spec, whose own checks report such strings. No message shows a value.
    """
    suspected = _may_hold(objects.json)
    found: list[ObjectFinding] = []
    for obj in objects:
        if obj.kind == ("", "Secret"):
            found += _values(obj)
            continue
        if obj.pods:
            found += _variables(obj)
        written_by_user = obj.spec is not None and obj.kind[1] == obj.spec.kind
        if suspected and not written_by_user and _may_hold(obj.json) and _SUSPECT.search(obj.json):
            found += _strings(obj)
    return found


def _may_hold(json: bytes) -> bool:
    """Whether JSON may hold a secret: each pattern needs one of the `_MARKS`, and most objects have none of them."""
    return any(mark in json for mark in _MARKS)


def _values(obj: Object) -> Iterator[ObjectFinding]:
    for field in ("data", "stringData"):
        if mapping(obj.body, field):
            message = "The Secret has values, and everybody with access to the Git repository can read them."
            hint = "Write an ExternalSecret or SealedSecret, or create the Secret by other means."
            yield about(obj, _CODE, (field,), message, hint)


def _variables(obj: Object) -> Iterator[ObjectFinding]:
    for pod in obj.pods:
        for path, container in pod.containers:
            for index, variable in enumerate(items(container, "env")):
                if variable.get("name") in _SECRET_ENV and variable.get("value"):
                    message = f"The variable {variable['name']} is secret, but has a literal value."
                    hint = "Take it from a Secret by valueFrom.secretKeyRef."
                    yield about(obj, _CODE, (*path, "env", index, "value"), message, hint)


def _strings(obj: Object) -> Iterator[ObjectFinding]:
    for path, text in strings(obj.body):
        for pattern, what in _PATTERNS:
            if pattern.search(text):
                yield about(obj, _CODE, path, f"The string holds {what}.", "Move it into a Secret and refer to that.")
