"""Configuration of the gate: written by the compiler, mounted as a file, read in a pod beside a closed run.

A run that waits for datasets or other specs is compiled closed: nothing of it is started or admitted. The gate opens it once all that
it waits for is ready.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from stowplan.schema.agents.marker import LONGEST_REVISION
from stowplan.schema.meta import RUN_ANNOTATION, DnsLabel, Model

GATE_ANNOTATION = "stowplan.dev/gate"
"""Annotation of the Jobs or the JobSet of a run that is compiled closed: what it waits for, for people.

It is a list with commas, such as `Dataset imagenet, DataCube weights`.
"""

OPENED = "stowplan.dev/opened"
"""Annotation that a gate sets when it opens a Job or a JobSet: the time in RFC 3339. It is never in Git."""

ADMISSION_GATE = "kueue.x-k8s.io/admission-gated-by"
"""Annotation of a Job or a JobSet that Kueue does not admit: names with commas. Kueue lets them be removed only."""

ADMISSION_GATE_NAME = "stowplan.dev/gate"
"""The gate's own name in `ADMISSION_GATE`."""

ReadyCondition = Literal["Ready", "Warmed", "Complete"]
"""Condition by which a spec is ready: `Ready` and `Warmed` of datasets, `Complete` of runs that end."""


class GateWait(Model):
    """A spec that must be ready."""

    kind: str = Field(description="Kind of its custom resource, such as `Dataset`.", min_length=1, max_length=63)
    name: str = Field(description="Name of its custom resource.", min_length=1, max_length=253)
    condition: ReadyCondition = Field(description="Condition of its status that must be true.")
    run: str = Field(
        description="The run that must be the reported one: the hash at the end of the names of its Jobs; empty if it has none.",
        max_length=63,
    )
    spec: str = Field(
        description="Digest of its spec, as `digest` returns it; empty if it is not known, and then any run counts.",
        max_length=64,
    )
    revision: str | None = Field(
        default=None,
        description="Revision that its status must report, such as a commit; null for any.",
        max_length=LONGEST_REVISION,
    )


class GateObject(Model):
    """A Job or a JobSet to open."""

    kind: Literal["Job", "JobSet"] = Field(description="Its kind.")
    name: str = Field(description="Its name.", min_length=1, max_length=253)


class GateOwner(Model):
    """The spec whose run waits."""

    kind: str = Field(description="Kind of its custom resource, such as `Training`.", min_length=1, max_length=63)
    name: str = Field(description="Name of its custom resource.", min_length=1, max_length=253)


class GateConfig(Model):
    """Opens the run of one spec."""

    format: Literal[1] = Field(default=1, description="Version of this contract.")
    task: Literal["gate"] = Field(default="gate", description="What to do.")
    namespace: DnsLabel = Field(description="Namespace of all objects.")
    owner: GateOwner = Field(description="The spec whose run waits. The run stays closed while its `suspend` is true.")
    waits: list[GateWait] = Field(description="What the run waits for.", min_length=1)
    objects: list[GateObject] = Field(description="What to open, in this order.", min_length=1)
    admission: bool = Field(
        default=False,
        description="Whether Kueue holds the run back, by `kueue.x-k8s.io/admission-gated-by`, and not `spec.suspend`.",
    )


def digest(resource: Mapping[str, Any]) -> str:
    """Return a digest of the spec of a custom resource and of its annotation `stowplan.dev/run`: 32 hexadecimal digits.

    The compiled manifest and the object in the cluster have the same digest: empty fields and null count as missing.
    """
    notes = (resource.get("metadata") or {}).get("annotations") or {}
    content = [_full(resource.get("spec") or {}), str(notes.get(RUN_ANNOTATION) or "")]
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]


def _full(value: Any) -> Any:
    """Return plain data without fields that are null or empty, and with integers for whole numbers."""
    if isinstance(value, Mapping):
        full = {str(key): _full(each) for key, each in value.items()}
        return {key: each for key, each in full.items() if each is not None and each not in ({}, [])}
    if isinstance(value, list | tuple):
        return [_full(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
