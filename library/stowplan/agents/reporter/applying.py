"""Server-side apply of a status, and the possible results."""

from enum import Enum

from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.observed import Observed
from stowplan.agents.reporter.resources import Resource
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.field_managers import REPORTER


class Written(Enum):
    """Result of an apply."""

    DONE = "done"
    OUTDATED = "outdated"
    """The custom resource has changed since it was judged, or was created again, so it must be judged again."""
    GONE = "gone"
    FAILED = "failed"


def manifest(resource: Resource, status: Status) -> Manifest:
    """Return the manifest to apply.

    Its `resourceVersion` makes the server refuse it unless the custom resource is unchanged since it was judged.
    """
    return {
        "apiVersion": resource.kind.served.api_version,
        "kind": resource.kind.kind,
        "metadata": {
            "name": resource.name,
            "namespace": resource.namespace,
            "resourceVersion": resource.version,
        },
        "status": status,
    }


async def apply(client: Client, seen: Observed, status: Status, log: Log) -> tuple[Written, Manifest | None]:
    """Apply the status. Also return the resulting custom resource, or None unless `DONE`."""
    resource = seen.resource
    place = resource.kind.served.place(resource.namespace, resource.name)
    answer = await client.apply_status(place, manifest(resource, status), REPORTER)
    match answer:
        case Refused(status=404):
            return Written.GONE, None
        case Refused(status=409):
            return Written.OUTDATED, None
        case Refused() | Unreachable():
            log.warning("Cannot report", kind=resource.kind.kind, name=resource.name, error=str(answer))
            return Written.FAILED, None
        case _:
            return Written.DONE, answer
