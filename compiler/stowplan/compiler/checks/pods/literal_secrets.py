"""Does a user's pod have a password or token as a literal value, in a variable or an argument?"""

import re
from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects
from stowplan.compiler.kubernetes.fields import items
from stowplan.library.manifest import Json
from stowplan.library.values.variable_references import SECRET_NAME, references
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.platform.platform import Platform

_LOST = "what is committed to Git is no secret any more."
_HINT = "Take it from a Secret by `valueFrom.secretKeyRef`, and revoke this one."
_OF_TOKENIZERS = re.compile(r"(^|[-_])(bos|cls|eos|image|mask|pad|sep|special|stop|unk|video)[-_]token$", re.IGNORECASE)
"""Names of variables and flags about tokens of language models, which are parts of words and not secret."""

_NO_SECRET = re.compile(r"true|false|yes|no|on|off|none|null|\d{1,4}|<[^<>]*>|\[\w+\]|", re.IGNORECASE)
"""Values that are no secrets: switches, numbers such as a count of tokens, and placeholders.

`HF_HUB_DISABLE_IMPLICIT_TOKEN`, for example, is 0 or 1.
"""

_FLAG = re.compile(
    r"--?((?:[\w-]*[-_])?(?:passwd|password|token|api[-_]key|secret[-_](?:access[-_])?key))", re.IGNORECASE
)
_ARGUMENT = re.compile(rf"(?<!\S){_FLAG.pattern}(?:=|\s+)(\S+)", re.IGNORECASE)
_REFERENCE = re.compile(r"[\"']?[$/@-]")
"""The first characters of an argument that is a variable, a file or another flag, and so not a literal secret."""


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return one finding for each literal secret in the containers of users' pods. No message shows a value."""
    found: list[ObjectFinding] = []
    for obj in objects.with_pods:
        for pod in obj.users_pods(platform):
            for path, container in pod.containers:
                for place, message in (*_variables(container), *_arguments(container)):
                    found.append(about(obj, "SP603", (*path, *place), message, _HINT))
    return found


def _variables(container: Json) -> Iterator[tuple[FieldPath, str]]:
    for index, variable in enumerate(items(container, "env")):
        name, value = str(variable.get("name")), str(variable.get("value") or "")
        if _is_secret(SECRET_NAME.search(name), name, value) and not references(value):
            yield ("env", index, "value"), f"The variable {name} has a literal value; {_LOST}"


def _arguments(container: Json) -> Iterator[tuple[FieldPath, str]]:
    for field in ("command", "args"):
        words = [str(word) for word in container.get(field) or ()]
        for index, word in enumerate(words):
            following = words[index + 1] if index + 1 < len(words) else ""
            pairs = _ARGUMENT.findall(word)
            if flag := _FLAG.fullmatch(word):
                pairs.append((flag[1], following))
            for name, value in pairs:
                if _is_secret(not _REFERENCE.match(value), name, value):
                    yield (field, index), f"The argument --{name} has a literal value; {_LOST}"


def _is_secret(suspected: object, name: str, value: str) -> bool:
    return bool(suspected) and not _OF_TOKENIZERS.search(name) and not _NO_SECRET.fullmatch(value)
