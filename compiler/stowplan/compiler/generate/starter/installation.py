"""The requirements file by which the user's CI installs the same Stowplan as the one that is running here."""

import json
import re
from importlib.metadata import distribution
from typing import Any, NamedTuple

FILE = "requirements/stowplan.txt"
"""Path of the requirements file in the user's repository."""

_URL = re.compile(r"(https|ssh)://(?P<user>[\w.-]+@)?[\w.-]+(:\d+)?/[\w./~%+-]+", re.ASCII)
"""URLs without a password, a query (which may hold a token), and characters with a meaning in requirements files."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PINNED = re.compile(
    r"stowplan(==| @ ).*(@([0-9a-f]{40}|[0-9a-f]{64})(#subdirectory=\S+)?| --hash=sha256:[0-9a-f]{64})"
)
"""A requirement that one commit or one file fulfils."""

_HEAD = """\
# How CI installs Stowplan itself. What it depends on is in stowplan-dependencies.txt, pinned by hash.
# After an upgrade run `stowplan init --upgrade`.
"""
_NO_HASH = """\
# Stowplan {version} was installed from a package index or a URL, and the hash of its file is not recorded. Fetch it and
# put its requirement with the hash in the place of the last line:
#   pip download --no-deps --dest downloads "{source}" && pip hash downloads/stowplan-*
#   {source} --hash=sha256:<what pip printed>
CI cannot install Stowplan before its hash is written into requirements/stowplan.txt
"""
_NO_SOURCE = """\
# Stowplan {version} was installed from a place that CI cannot use, such as a local folder or a URL without HTTPS.
# Push it to a Git server, or upload a wheel of it, and put one of these in the place of the last line:
#   stowplan @ git+https://git.example.com/platform/stowplan.git@<commit>
#   stowplan @ https://files.example.com/stowplan-{version}-py3-none-any.whl --hash=sha256:<hash>
CI cannot install Stowplan before requirements/stowplan.txt says where it comes from
"""


class _Source(NamedTuple):
    """Where this Stowplan comes from. `requirement` names it without a hash: `stowplan==1.2` or `stowplan @ <url>`.

    `line` is the whole requirement, with a hash or a commit; empty if the hash is not recorded.
    """

    requirement: str
    line: str


def requirements() -> str:
    """Return the content of the requirements file for this installation; a person may have to complete it."""
    return requirements_of(*_installed())


def incomplete(text: str) -> bool:
    """Whether a person must complete the requirements file: it then ends in a sentence, on which pip fails."""
    return text.splitlines()[-1].startswith("CI cannot install Stowplan ")


def requirements_of(version: str, direct_url: str | None) -> str:
    """Return the content of the requirements file for an installed version.

    `direct_url` is the content of `direct_url.json`; None if the package comes from an index. Installers write this
    file for all other packages: https://packaging.python.org/specifications/direct-url-data-structure/
    """
    source = _source(version, direct_url)
    if source is None:
        return _HEAD + _NO_SOURCE.format(version=version)
    return _HEAD + (f"{source.line}\n" if source.line else _NO_HASH.format(version=version, source=source.requirement))


def installs_this(text: str) -> bool:
    """Whether a requirements file installs this very Stowplan, or nobody can tell: it comes from a folder here."""
    source = _source(*_installed())
    return source is None or any(
        line == source.line if source.line else line.startswith(f"{source.requirement} --hash=sha256:")
        for line in text.splitlines()
    )


def is_as_written(text: str) -> bool:
    """Whether a requirements file has one requirement with a commit or a hash, and nothing else but comments.

    `requirements_of` writes such files, and asks people to complete the others so. Another one is edited.
    """
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return len(lines) == 1 and bool(_PINNED.fullmatch(lines[0]))


def _installed() -> tuple[str, str | None]:
    found = distribution("stowplan")
    return found.version, found.read_text("direct_url.json")


def _source(version: str, direct_url: str | None) -> _Source | None:
    """Return where an installed version comes from; None if CI cannot use the place."""
    if direct_url is None:
        return _Source(f"stowplan=={version}", "")
    try:
        origin = json.loads(direct_url)
    except ValueError:
        return None
    match origin:
        case {"url": str(url), "vcs_info": {"vcs": "git", "commit_id": str(commit)}}:
            if _reachable(url, {"https", "ssh"}) and _COMMIT.fullmatch(commit):
                requirement = f"stowplan @ git+{url}@{commit}{_folder(origin)}"
                return _Source(requirement, requirement)
        case {"url": str(url), "archive_info": dict(archive)}:
            if _reachable(url, {"https"}):
                requirement, digest = f"stowplan @ {url}{_folder(origin)}", _sha256(archive)
                return _Source(requirement, f"{requirement} --hash=sha256:{digest}" if digest else "")
    return None


def _reachable(url: str, schemes: set[str]) -> bool:
    """Whether CI can use the URL: it has one of `schemes` and holds no secret.

    A user name is allowed over SSH only, where it is part of the address.
    """
    found = _URL.fullmatch(url)
    return bool(found and found[1] in schemes and (not found["user"] or found[1] == "ssh"))


def _folder(origin: dict[str, Any]) -> str:
    folder = origin.get("subdirectory")
    return f"#subdirectory={folder}" if isinstance(folder, str) and re.fullmatch(r"[\w./-]+", folder, re.ASCII) else ""


def _sha256(archive: dict[str, Any]) -> str | None:
    """Return the SHA-256 of an archive in hexadecimal; None if `archive`, a part of `direct_url.json`, has none.

    Installers before 2023 wrote it in the field `hash` as `sha256=<hex>`.
    """
    hashes = archive.get("hashes")
    found = hashes.get("sha256") if isinstance(hashes, dict) else str(archive.get("hash", "")).removeprefix("sha256=")
    return found if isinstance(found, str) and _SHA256.fullmatch(found) else None
