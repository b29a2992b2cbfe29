"""The resolvers by section of the lock file."""

from collections.abc import Callable
from importlib import import_module

from stowplan.compiler.pins.pin import Reference, Section
from stowplan.compiler.pins.resolvers.failure import MissingPackageError
from stowplan.schema.lock import Pin

Resolver = Callable[[Reference], Pin]
"""Asks a remote for the pin of a reference. Raises `UnresolvedError`."""

_MODULES = {
    Section.IMAGES: "images",
    Section.GIT: "git",
    Section.HUGGINGFACE: "huggingface",
    Section.S3: "s3",
}


def resolver(section: Section) -> Resolver:
    """Return the resolver of a section. Raises `MissingPackageError` if the package that it needs is not installed."""
    try:
        module = import_module(f"{__package__}.{_MODULES[section]}")
    except ModuleNotFoundError as error:
        raise MissingPackageError(error.name or "") from None
    found: Resolver = module.resolve
    return found
