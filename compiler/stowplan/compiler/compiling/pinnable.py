"""What the specs and the platform file of a repository refer to and can be pinned, for `stowplan pin`."""

from collections.abc import Sequence

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.pins import references
from stowplan.compiler.pins.references import Reference
from stowplan.compiler.repository.load import Checkout
from stowplan.schema.lock import Lock

_OF_LOCK = ("SP902", "SP904")
"""Codes of what a lock file lacks or has wrong, which the command is there to change."""


def pinnable(checkout: Checkout, targets: Sequence[Target], report: Report) -> tuple[tuple[Reference, ...], Lock]:
    """Return all references of a repository by section and key, each once, with all places that have it; and its lock.

    `targets` are all targets of the repository. The lock is empty if there is no lock file, or one with errors. What is
    wrong with a file goes to `report`, except for SP902 and SP904, which the command `pin` is for.
    """
    found, lock = [], None
    for target in targets:
        own = Report()
        pinning = checkout.sources(target, own, collecting=True).pinning
        report.add(*(each for each in own.diagnostics if each.code not in _OF_LOCK))
        found += pinning.collected or []
        lock = pinning.lock
    empty = {"apiVersion": "stowplan.dev/v1alpha1", "kind": "Lock"}
    return references.together(found), lock or Lock.model_validate(empty)
