"""Diagnostics as SARIF 2.1.0, the format of code scanning services.

Columns count characters, and `%SRCROOT%` is the folder in which the command was called.
"""

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from posixpath import normpath
from typing import Any
from urllib.parse import quote

from stowplan.compiler.diagnostics.escaping import visible_lines
from stowplan.compiler.diagnostics.pages import page
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.schema.codes import CATALOGUE
from stowplan.schema.diagnostics import Severity

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(diagnostics: Sequence[Diagnostic], folder: str) -> str:
    """Return the JSON text of a SARIF log with all diagnostics.

    `folder` is the path from the root of the sources (`%SRCROOT%`) to the user's repository.
    """
    codes = sorted({each.code for each in diagnostics})
    driver = {"name": "Stowplan", "version": version("stowplan"), "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes.index(each.code), folder) for each in diagnostics],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True)


def _rule(code: str) -> dict[str, Any]:
    known = CATALOGUE[code]
    text = page(code) or known.title
    return {
        "id": code,
        "shortDescription": {"text": known.title},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[Severity(known.severity)]},
    }


def _result(each: Diagnostic, rule: int, folder: str) -> dict[str, Any]:
    path = normpath(f"{folder}/{each.location.file}")
    region = {"startLine": each.location.line, "startColumn": each.location.column}
    place = {"artifactLocation": {"uri": quote(os.fsencode(path)), "uriBaseId": "%SRCROOT%"}, "region": region}
    return {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": _LEVELS[each.severity],
        "message": {"text": _text(f"{each.message} {each.hint}")},
        "locations": [{"physicalLocation": place}],
        # Without the line, so that added lines above a mistake do not change its fingerprint.
        "partialFingerprints": {"stowplan/v1": _digest(path, each.code, each.field_path, each.message)},
        "properties": {"fieldPath": each.field_path},
    }


def _text(text: str) -> str:
    """Return a text in which viewers find no link: SARIF has them, such as `[text](https://a.example.com)`."""
    return visible_lines(text).replace("](", "]\u200b(")


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
