"""What the specs and the platform file of a repository refer to and can be pinned, for `stowplan pin`."""

from collections.abc import Sequence
from typing import NamedTuple

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.pins import references
from stowplan.compiler.pins.pin import Reference
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Loading
from stowplan.schema.lock import Lock

_OF_LOCK = ("SP902", "SP904")
"""Codes of what a lock file lacks or has wrong, which the command is there to change."""


class Pinnable(NamedTuple):
    """All references of a repository, and its lock file as it is; an empty one if there is none."""

    references: tuple[Reference, ...]
    lock: Lock


def pinnable(repo: Repository, targets: Sequence[Target], report: Report) -> Pinnable:
    """Read the repository and return its references, sorted, each with all places that have it.

    `targets` are all clusters of all environments; none without environments. What of a file cannot be read, also of
    the lock file, is reported.
    """
    found, lock = [], None
    for target in targets or (None,):
        own = Report()
        loading = Loading(repo, own, {}, target, collecting=True)
        loading.sources()
        report.add(*(each for each in own.diagnostics if each.code not in _OF_LOCK))
        found += loading.pinning.collected or []
        lock = loading.pinning.lock
    return Pinnable(references.together(found), lock or empty())


def empty() -> Lock:
    """Return a lock file without entries."""
    return Lock.model_validate({"apiVersion": "stowplan.dev/v1alpha1", "kind": "Lock"})
