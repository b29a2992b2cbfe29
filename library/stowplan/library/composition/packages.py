"""The npm packages of cdk8s, taken from where pip installed them."""

import tarfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("cdk8s", "constructs")


def unpack(folder: Path) -> None:
    """Put the packages below `folder`, as Node looks for them in a `node_modules`.

    A Python package that jsii made holds its npm package as `_jsii/<name>@<version>.jsii.tgz`. Only what Node loads is
    taken. Raises `LookupError` where a package is not installed.
    """
    for name in PACKAGES:
        with tarfile.open(_archive(name)) as archive:
            archive.extractall(folder / name, members=_loaded(archive), filter="data")


def _archive(name: str) -> Path:
    """Found without importing the package, which would start another Node."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise LookupError(f"the package {name} is not installed")
    return next(Path(spec.origin).parent.glob(f"_jsii/{name}@*.jsii.tgz"))


def _loaded(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Scripts and package files; npm keeps all below a folder `package`."""
    for member in archive:
        if member.isfile() and member.name.endswith((".js", ".json")) and "/browser/" not in member.name:
            yield member.replace(name=member.name.partition("/")[2])
