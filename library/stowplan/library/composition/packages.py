"""The npm packages of cdk8s, taken from where pip installed them."""

import gzip
import tarfile
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

PACKAGES = ("cdk8s", "constructs")


def unpack(folder: Path) -> None:
    """Put the packages below `folder`, as Node looks for them in a `node_modules`.

    A Python package that jsii made holds its npm package as `_jsii/<name>@<version>.jsii.tgz`. Only what Node loads is
    taken. Raises `LookupError` where a package is not installed.
    """
    for name in PACKAGES:
        folders = set()
        for path, content in _loaded(_archive(name)):
            file = folder / name / path
            if file.parent not in folders:
                file.parent.mkdir(parents=True, exist_ok=True)
                folders.add(file.parent)
            file.write_bytes(content)


def _archive(name: str) -> Path:
    """Found without importing the package, which would start another Node."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise LookupError(f"the package {name} is not installed")
    return next(Path(spec.origin).parent.glob(f"_jsii/{name}@*.jsii.tgz"))


def _loaded(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Scripts and package files, each with its path; npm keeps all below a folder `package`.

    Written by us rather than by `tarfile`, which would spend twice the time on owners, times and rights.
    """
    with tarfile.open(fileobj=BytesIO(gzip.decompress(archive.read_bytes())), mode="r:") as files:
        for member in files:
            wanted = member.isfile() and member.name.endswith((".js", ".json")) and "/browser/" not in member.name
            if wanted and (content := files.extractfile(member)):
                yield member.name.partition("/")[2], content.read()
