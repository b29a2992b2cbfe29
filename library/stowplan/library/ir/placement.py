"""Where and when a training job runs: what it asks of engines that not every platform has."""

from typing import Literal, NamedTuple

Offer = Literal["queue", "topology", "exclusive"]
"""A field of `scheduling` of a Training that some engines have and others lack."""


class Topology(NamedTuple):
    """Nearness of the pods of a role to each other.

    `label` is a label of nodes. All pods run on nodes with the same value of it; without `required`, if possible.
    """

    label: str
    required: bool


class Placement(NamedTuple):
    """What a job asks for besides its gang; None for each thing that it does not ask for.

    `priority` is the name of a WorkloadPriorityClass for Kueue, of a PriorityClass for any other engine. `exclusive` is
    a label of nodes: no other job with this wish runs on nodes with the same value. `longest` is the number of seconds
    for which the job may run, with its interruptions not counted.
    """

    priority: str | None = None
    topology: Topology | None = None
    exclusive: str | None = None
    longest: int | None = None


ANYWHERE = Placement()
