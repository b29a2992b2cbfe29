"""Interface of the rules by which the reporter derives the status of one kind of custom resource."""

from collections.abc import Callable
from typing import NamedTuple

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.objects.resources import SpecFields
from stowplan.agents.reporter.rules.conditions import Status


class Rules(NamedTuple):
    """The rules of one kind: `RULES` of the module with the kind's name.

    `status` returns all status fields that the reporter owns, without absent ones; None to leave the status unchanged.
    `fields` are the names of these fields, also of those that are absent at times. `observed` are the fields of the
    spec that `status` reads.
    """

    status: Callable[[Observed], Status | None]
    fields: frozenset[str]
    observed: SpecFields
