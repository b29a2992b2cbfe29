"""`extraArgs`: flags for the tools that the old system ran. They are read as the typed fields that replace them.

Typed fields are fields of the spec other than `extraArgs`, or options of its remote side.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from stowplan.library.dialects.data_cube.options import REPO_TYPES
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import SideType

BASE: FieldPath = ("spec", "executor", "options", "extraArgs")

TOOLS: Mapping[SideType, str] = {"git": "git", "huggingface": "huggingface-cli", "s3": "rclone"}
"""The tool that the old system ran, by type of the remote side. No flags are allowed for a type without a tool."""

_MEBIBYTES = {"b": 1 / 1024**2, "k": 1 / 1024, "m": 1, "g": 1024}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(b|[kmg](?:i?b)?)?", re.IGNORECASE)
LEAST_PART = 5
"""Smallest size of a part of an upload in MiB; S3 refuses smaller parts."""


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _positive(text: str) -> int | None:
    return _number(text) or None


def _size(text: str) -> int | None:
    """Return a size in rclone's form in MiB, at least `LEAST_PART`; None if it does not have this form.

    `B` is bytes, and a number without a unit is in KiB. https://rclone.org/docs/#size-options
    """
    found = _SIZE.fullmatch(text)
    if not found:
        return None
    unit = (found[2] or "k")[0].lower()
    return max(LEAST_PART, round(float(found[1]) * _MEBIBYTES[unit]))


def _truth(text: str) -> bool | None:
    return {"": True, "true": True, "false": False}.get(text)


def _repo_type(text: str) -> str | None:
    return text if text in REPO_TYPES else None


def _word(text: str) -> str | None:
    return text or None


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: the setting that replaces it, and how its value is read.

    `setting` is a key of `Arguments.settings`. It is empty for a flag that only concerned the old tool. `takes` is the
    number of values after the flag, -1 for any number. `read` converts the string of a value; it returns None for an
    invalid value. `instead` names the field or option of the spec in messages.
    """

    setting: str = ""
    takes: int = 1
    read: Callable[[str], Any] = _word
    instead: str = ""


_NOTHING = Flag(takes=0)
_IGNORED = Flag()

FLAGS: Mapping[str, Mapping[str, Flag]] = {
    "huggingface-cli": {
        "--repo-type": Flag("repo-type", read=_repo_type, instead="the option `repo-type`"),
        "--revision": Flag("revision", instead="the option `revision`"),
        "--include": Flag("include", takes=-1, instead="`huggingface.include`"),
        "--exclude": Flag("exclude", takes=-1, instead="`huggingface.exclude`"),
        "--max-workers": Flag("parallelism", read=_positive, instead="`executor.options.parallelism`"),
        "--commit-message": Flag("commit-message", instead="the option `commit-message`"),
        "--cache-dir": _IGNORED,
        "--local-dir-use-symlinks": _IGNORED,
        "--resume-download": _NOTHING,
        "--force-download": _NOTHING,
        "--quiet": _NOTHING,
    },
    "rclone": {
        "--transfers": Flag("parallelism", read=_positive, instead="`executor.options.parallelism`"),
        "--s3-chunk-size": Flag("part_size_mib", read=_size, instead="`executor.options.partSize`"),
        "--low-level-retries": Flag("request_retries", read=_number, instead="`executor.options.requestRetries`"),
        "--max-delete": Flag("max_delete", read=_number, instead="`executor.options.maxDelete`"),
        "--s3-region": Flag("s3-region", instead="the option `s3-region`"),
        "--s3-force-path-style": Flag("path_style", takes=0, read=_truth, instead="`s3.pathStyle`"),
        "--s3-no-check-bucket": Flag("s3-no-check-bucket", takes=0, read=_word, instead="that option"),
        "--checkers": _IGNORED,
        "--buffer-size": _IGNORED,
        "--multi-thread-streams": _IGNORED,
        "--multi-thread-cutoff": _IGNORED,
        "--s3-upload-concurrency": _IGNORED,
        "--s3-upload-cutoff": _IGNORED,
        "--retries": _IGNORED,
        "--stats": _IGNORED,
        "--log-level": _IGNORED,
        "--fast-list": _NOTHING,
        "--progress": _NOTHING,
        "--stats-one-line": _NOTHING,
        "--verbose": _NOTHING,
        "--quiet": _NOTHING,
    },
    "git": {
        "--depth": Flag("depth", read=_positive, instead="`git.depth`"),
        "--recurse-submodules": Flag("submodules", takes=0, read=_truth, instead="`git.submodules`"),
        "--branch": Flag("ref", instead="the option `ref`"),
        "--single-branch": _NOTHING,
        "--progress": _NOTHING,
        "--verbose": _NOTHING,
        "--quiet": _NOTHING,
    },
}
"""All accepted flags, by tool. A flag that changes the outcome and has no typed field is refused."""

_SHORT = {"-P": "--progress", "-v": "--verbose", "-vv": "--verbose", "-q": "--quiet"}
_SHORT_OF = {
    "git": {**_SHORT, "-b": "--branch", "--recursive": "--recurse-submodules"},
    "rclone": _SHORT,
    "huggingface-cli": {},
}

_REFUSED = {
    "--token": "Give it as the option `token`, from a Secret.",
    "--s3-access-key-id": "Give it as the option `s3-access-key-id`.",
    "--s3-secret-access-key": "Give it as the option `s3-secret-access-key`, from a Secret.",
    "--s3-endpoint": "Give it as the option `s3-endpoint`.",
    "--force": "Nothing is ever pushed over what others pushed; merge first.",
    "-f": "Nothing is ever pushed over what others pushed; merge first.",
    "--local-dir": "The place in the claim is `pvc.subPath`.",
    "--delete": "Files that were uploaded are not removed; do that on the Hub.",
    "--no-check-certificate": "Give the authority's certificates as `caBundle`.",
    "--dry-run": "Compile with `stowplan validate`; the agent has no dry run.",
}
"""Hints for some of the flags that are refused."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Values that the flags give, by name of the setting or option. Of several equal flags the last one wins.

    A setting is a name such as `parallelism`, which `Cube.setting` knows.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    """Index in `extraArgs` of the flag that gave each setting."""


def understood(kind: SideType, arguments: list[str]) -> tuple[Arguments, list[Finding]]:
    """Return the settings in `arguments`, the list `extraArgs`, and findings about unknown or unusable flags.

    `kind` is the type of the remote side.
    """
    settings: dict[str, Any] = {}
    places: dict[str, int] = {}
    found: list[Finding] = []
    for index, name, flag, values in _flags(kind, arguments):
        if flag is None:
            found.append(_unknown(kind, index, name))
        elif not flag.setting:
            message = f"{name} only concerned {TOOLS.get(kind, kind)}, which is not used any more."
            found.append(finding("SP406", (*BASE, index), message, "Remove it."))
        else:
            read = [flag.read(value) for value in values]
            if None in read or (not read and flag.takes):
                found.append(_bad_value(index, name, values, flag))
                continue
            settings[flag.setting] = read if flag.takes < 0 else read[0]
            places[flag.setting] = index
    return Arguments(settings, places), found


def _flags(kind: SideType, arguments: list[str]) -> Iterator[tuple[int, str, Flag | None, list[str]]]:
    """Yield index, name, meaning and values of each flag. The meaning is None for an unknown flag.

    Values are after the `=` of the flag, or in the arguments that follow the flag.
    """
    tool = TOOLS.get(kind, kind)
    index = 0
    while index < len(arguments):
        place = index
        name, equals, value = arguments[index].partition("=")
        index += 1
        flag = FLAGS.get(tool, {}).get(_SHORT_OF.get(tool, {}).get(name, name))
        values = [value] if equals else []
        if name.startswith("-") and not equals:
            taken = _behind(arguments[index:], flag.takes if flag else 1)
            index += len(taken)
            values = taken if not flag or flag.takes else [_bare(flag)]
        yield place, name, flag, values


def _behind(rest: list[str], takes: int) -> list[str]:
    """Return the values after a flag: up to `takes` arguments (-1: any number) before the next flag.

    `rest` are the arguments after the flag.
    """
    most = len(rest) if takes < 0 else takes
    end = next((index for index, text in enumerate(rest[:most]) if text.startswith("-")), most)
    return rest[: min(end, most)]


def _bare(flag: Flag) -> str:
    """Return the value that a flag has if none is written behind it, as in `--flag`."""
    return "true" if flag.setting else ""


def _bad_value(index: int, name: str, values: list[str], flag: Flag) -> Finding:
    found = f'found "{values[0]}"' if values and values[0] else "found no value"
    return finding("SP496", (*BASE, index), f"{name}: {found}.", f"Write {flag.instead} instead.")


def _unknown(kind: SideType, index: int, name: str) -> Finding:
    tool = TOOLS.get(kind, kind)
    if not name.startswith("-"):
        message = f"This is no flag of {tool}."
        return finding("SP496", (*BASE, index), message, "Remove it; source and sink say what is copied.")
    message = f"{name} of {tool} has no field here that takes its place."
    slip = get_close_matches(name, [*FLAGS.get(tool, {}), *_SHORT_OF.get(tool, {})], n=1, cutoff=0.85)
    hint = _REFUSED.get(name) or (f'Did you mean "{slip[0]}"?' if slip else "Remove it, if the copy may do without.")
    return finding("SP496", (*BASE, index), message, hint)
