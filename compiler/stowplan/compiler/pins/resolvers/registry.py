"""The resolvers by section of the lock file."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from stowplan.compiler.pins.resolvers.failure import MissingPackageError
from stowplan.compiler.pins.trust import Trust
from stowplan.library.dialects.reading.floating import FloatingReference, Section
from stowplan.schema.lock import Pin

Resolver = Callable[[FloatingReference], Pin]
"""Asks a remote for the pin of a reference. Raises `UnresolvedError`."""

_FOR_ANY = frozenset({Section.HUGGINGFACE, Section.S3})
"""Sections whose credentials do not say which servers they are for, as those of registries and of git do."""


def resolver(section: Section, trust: Trust) -> Resolver:
    """Return the resolver of a section. Raises `MissingPackageError` if the package that it needs is not installed.

    `trust` says which servers get credentials that do not say it themselves.
    """
    try:
        # Each section has a module of its name.
        module = import_module(f"{__package__}.{section}")
    except ModuleNotFoundError as error:
        raise MissingPackageError(error.name or "") from None
    found: Resolver = partial(module.resolve, trust=trust) if section in _FOR_ANY else module.resolve
    return found
