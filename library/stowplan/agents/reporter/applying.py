"""Server-side apply of a custom resource's status, and the possible results."""

from enum import Enum
from typing import assert_never

from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.objects.observed import Observed
from stowplan.agents.reporter.objects.resources import Resource
from stowplan.agents.reporter.rules.conditions import Status
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.field_managers import REPORTER


class Written(Enum):
    """Result of an attempt to write a status."""

    DONE = "done"
    OUTDATED = "outdated"
    """The status was refused: the custom resource has changed or was created again since the status was derived."""
    GONE = "gone"
    """The custom resource does not exist."""
    FAILED = "failed"
    """Any other refusal, or no answer."""


def manifest(resource: Resource, status: Status) -> Manifest:
    """Return the manifest to apply for this status.

    It holds the `resourceVersion` of `resource`, so the API server refuses it if the custom resource has changed since.
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
    """Apply the status. Return the result, and the changed custom resource; the latter is None unless the result is
    `DONE`.
    """
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
        case dict():
            return Written.DONE, answer
        case other:
            assert_never(other)
