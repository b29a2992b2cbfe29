"""The script that Node.js runs, and the npm packages of cdk8s, which are in Python packages that pip has installed."""

import re
import tarfile
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("cdk8s", "constructs")
SCRIPT = "compose.js"

_FOLDER = "node_modules"
"""Folder next to the script. Node.js searches it first, before folders further up, which other users may write to."""

_LOADED = re.compile(r"package/((?:[\w@-][\w@.-]*/)*[\w@-][\w@.-]*\.js(?:on)?)", re.ASCII)
"""Files in an npm archive that Node.js loads: scripts and JSON files. npm puts all files below a folder `package`.

The group is the path below that folder. No part of the path begins with a dot, so the path cannot leave the folder.
"""
_LEFT_OUT = "node_modules/yaml/"
"""YAML library of cdk8s: two thirds of the loaded code, and unused here."""


def unpack(folder: Path) -> None:
    """Write the script and the npm packages into `folder`, in the layout that Node.js expects.

    A Python package that jsii made holds its npm package as `_jsii/<name>@<version>.jsii.tgz`. jsii can unpack one only
    with its kernel, a second Node.js process that takes 0.2 s to start. Only files that Node.js loads are written; they
    replace existing ones. The caller removes the folder. Raises `LookupError` if a package is not installed.
    """
    for name in PACKAGES:
        target = folder / _FOLDER / name
        with tarfile.open(_archive(name)) as archive:
            for member in archive:  # in archive order: a compressed archive cannot be read backwards
                found = _LOADED.fullmatch(member.name)
                file = archive.extractfile(member) if found and _LEFT_OUT not in member.name else None
                if found and file:
                    _write(target / found[1], file.read())
    _write(folder / _FOLDER / "cdk8s" / _LEFT_OUT / "index.js", b"")
    _write(folder / SCRIPT, script())


def script() -> bytes:
    """Return the content of `compose.js`."""
    return Path(__file__).with_name(SCRIPT).read_bytes()


def _archive(name: str) -> Path:
    """Return the path of a package's npm archive. Importing the package would start a second Node.js process."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise LookupError(f"the package {name} is not installed")
    return next(Path(spec.origin).parent.glob(f"_jsii/{name}@*.jsii.tgz"))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
