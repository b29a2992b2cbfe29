"""Events of Kubernetes about objects that cannot begin their work, and the choice of those that still hold.

The API server keeps an event for an hour after it happened last, also when its cause is gone. So each choice takes the
present state of the object into account. Both APIs for events, `v1` and `events.k8s.io/v1`, serve the same objects.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from sys import intern

from stowplan.agents.cluster.answers import Manifest

FAILED_MOUNT, FAILED_ATTACH = "FailedMount", "FailedAttachVolume"
FAILED_SCHEDULING = "FailedScheduling"
FAILED_CREATE, FAILED_JOB = "FailedCreate", "JobCreationFailed"
"""The reason if the controller of a Job or StatefulSet cannot create a pod, and that if JobSet cannot create a Job."""

REASONS = (FAILED_MOUNT, FAILED_ATTACH, FAILED_SCHEDULING, FAILED_CREATE)
"""Reasons of the events that the reporter reads, from the kubelet, schedulers and controllers of Kubernetes."""

MOST = 500
"""Maximum number of events of one reason that are kept in memory: those that happened last."""

MOST_PAGES = 20
"""Maximum number of pages that are listed for one reason. The watch brings the other events when they happen again."""

_LONGEST = 600
"""Maximum length of a message in characters; longer ones are cut."""

_GENERIC = "Unable to attach or mount volumes"
_QUOTA = "exceeded quota"


@dataclass(frozen=True, slots=True)
class Event:
    """An event about one object."""

    key: tuple[str, str]
    """Kind and UID of the object."""
    reason: str
    message: str
    at: str
    """Time at which it happened last (RFC 3339, in seconds)."""
    again: bool
    """Whether it has happened more than once."""

    @property
    def lasting(self) -> bool:
        """Return whether the cause probably remains until a person removes it.

        A free node or the end of other pods may come by themselves, and a first failure to mount often passes.
        """
        return self.again and self.reason != FAILED_SCHEDULING and _QUOTA not in self.message


def event(manifest: Manifest) -> Event | None:
    """Return the event with this manifest; None if it is about no single object."""
    about, series = manifest.get("involvedObject") or {}, manifest.get("series") or {}
    if not about.get("kind") or not about.get("uid"):
        return None
    at = (
        series.get("lastObservedTime")
        or manifest.get("lastTimestamp")
        or manifest.get("eventTime")
        or manifest["metadata"].get("creationTimestamp")
    )
    return Event(
        key=(intern(str(about["kind"])), str(about["uid"])),
        reason=intern(str(manifest.get("reason") or "")),
        message=" ".join(str(manifest.get("message") or "").split())[:_LONGEST],
        at=_in_seconds(str(at or "")),
        again=int(series.get("count") or manifest.get("count") or 1) > 1,
    )


def of_pod(events: Iterable[Event], *, placed: bool) -> Event | None:
    """Return the event that says why a pod has not begun; None if there is none, or if the pod has got over it.

    `placed` is whether the pod has a cluster node. Call this only while its volumes are not mounted.
    """
    reasons = (FAILED_MOUNT, FAILED_ATTACH) if placed else (FAILED_SCHEDULING,)
    found = [each for each in events if each.reason in reasons]
    # The kubelet says after two minutes which volumes are missing, and the driver says each time why.
    exact = [each for each in found if not each.message.startswith(_GENERIC)]
    return _newest(exact or found)


def of_workload(events: Iterable[Event], *, missing: bool, created: Sequence[str]) -> Event | None:
    """Return the event that says why a controller cannot create pods or Jobs; None if none holds any more.

    `missing` is whether there are fewer than wanted, and `created` are the creation times of those that there are.
    """
    if not missing:
        return None
    newest = max(created, default="")
    return _newest([each for each in events if each.reason in (FAILED_CREATE, FAILED_JOB) and each.at >= newest])


def _newest(found: Sequence[Event]) -> Event | None:
    """Return the event that happened last. Several events mean that it has happened again with another message."""
    newest = max(found, key=lambda each: (each.at, each.message), default=None)
    return newest and replace(newest, again=newest.again or len(found) > 1)


def _in_seconds(time: str) -> str:
    """Return a time without its fraction of a second: `eventTime` has one, and other times have none."""
    return f"{time.partition('.')[0].removesuffix('Z')}Z" if time else ""
