"""Interface of the rules by which the reporter derives the status of one kind of custom resource."""

from collections.abc import Callable
from typing import NamedTuple

from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.objects.resources import SpecFields
from stowplan.agents.reporter.rules.conditions import Status


class Rules(NamedTuple):
    """The rules of one kind: `RULES` of the module with the kind's name.

    `status` returns all status fields that the reporter owns; absent ones are None or missing, as is
    `observedGeneration`, which is added. It returns None to leave the status unchanged. `fields` are the names of all
    these fields, also of those that are absent at times. `observed` are the fields of the spec that `status` reads.

    An example is `stowplan.agents.reporter.rules.toy_training`::

        '''The status of a ToyTraining.'''

        from stowplan.agents.reporter.rules.api import Rules


        def _status(seen):
            return {"phase": "Done" if any(job.completed for job in seen.jobs) else "Running"}


        RULES = Rules(_status, frozenset({"phase"}), {"nodes": None})
    """

    status: Callable[[Observed], Status | None]
    fields: frozenset[str]
    observed: SpecFields
