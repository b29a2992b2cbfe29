"""Will the API server take each label, selector and annotation?"""

import re
from collections.abc import Iterator
from typing import Any

from stowplan.compiler.checks.manifests import built_in, mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects
from stowplan.compiler.model import Output
from stowplan.library import names
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath

_CODE_FORM, _CODE_LENGTH = "SP514", "SP504"
_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_ANNOTATIONS_LIMIT = 256 * 1024
_LABEL_MAPS = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
_NOT_OURS = frozenset({"data", "binaryData", "stringData", "openAPIV3Schema"})
"""Fields below which keys are the user's own words."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Keys and values of labels and selectors, keys and total size of annotations.

    They are looked for in all of a built-in object, and in the metadata of a custom resource. A key is
    `[prefix/]name`: the prefix a DNS subdomain, the name and a value at most 63 letters, digits, `-`, `_` and `.`, with
    a letter or digit at both ends; a value may be empty. All annotations of an object together have 256 KiB.
    """
    return [found for output in objects.outputs for found in _check(output)]


def _check(output: Output) -> Iterator[ObjectFinding]:
    body = output.manifest.body
    whole = built_in(output.manifest.group)
    for path, labels in _label_maps(body if whole else {"metadata": body["metadata"]}, ()):
        for key, value in labels.items():
            yield from _key(output, path, key)
            yield from _value(output, (*path, key), value)
    annotations = mapping(body, "metadata", "annotations")
    for key in annotations:
        yield from _key(output, ("metadata", "annotations"), key)
    size = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS_LIMIT:
        message = f"The annotations have {size} bytes; at most {_ANNOTATIONS_LIMIT} are allowed."
        yield about(output, _CODE_LENGTH, ("metadata", "annotations"), message, "Shorten them.")


def _label_maps(node: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Json]]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _label_maps(item, (*path, index))
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, dict) and _holds_labels(key, value):
                yield (*path, key), value
            elif isinstance(value, dict | list) and key not in _NOT_OURS:
                yield from _label_maps(value, (*path, key))


def _holds_labels(key: str, value: Json) -> bool:
    """A mapping of texts under one of these keys; a `selector` may also be one with `matchLabels` inside."""
    return key in _LABEL_MAPS and all(isinstance(text, str) for text in value.values())


def _key(output: Output, path: FieldPath, key: str) -> Iterator[ObjectFinding]:
    prefix, slash, name = key.rpartition("/")
    if len(name) > names.LABEL_LIMIT or len(prefix) > names.SUBDOMAIN_LIMIT:
        message = f'The key "{key}" is too long; allowed are 253 characters before and 63 after the slash.'
        yield about(output, _CODE_LENGTH, (*path, key), message, "Shorten the key.")
    elif not _WORD.fullmatch(name) or (slash and not names.is_dns_subdomain(prefix.lower())):
        message = f'The key "{key}" is not allowed; allowed is a name such as "app" or "example.com/app".'
        yield about(output, _CODE_FORM, (*path, key), message, "Change the key.")


def _value(output: Output, path: FieldPath, value: str) -> Iterator[ObjectFinding]:
    if len(value) > names.LABEL_LIMIT:
        message = f'The value "{value}" has {len(value)} characters; at most 63 are allowed in a label.'
        yield about(output, _CODE_LENGTH, path, message, "Shorten the value.")
    elif value and not _WORD.fullmatch(value):
        message = f'The value "{value}" is not allowed in a label; allowed are letters, digits, -, _ and .'
        yield about(output, _CODE_FORM, path, f"{message}, with a letter or digit at both ends.", "Change the value.")
