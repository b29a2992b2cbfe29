"""Manifests as values: they can be sent between processes, and are equal if their bodies are."""

import pickle

from stowplan.library.manifest import ExternalReference, Manifest, Part, Unit
from stowplan.schema.meta import ObjectId, SpecId

BODY = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a-1", "namespace": "ml"}}


def test_a_cached_identity_does_not_affect_equality() -> None:
    known, fresh = Manifest(BODY, "a"), Manifest(BODY, "a")
    assert known.id == ObjectId("batch", "Job", "ml", "a-1")
    assert known == fresh
    assert known != Manifest(BODY, "a", run=True)


def test_a_unit_passes_between_processes() -> None:
    unit = Unit(
        SpecId("SampleJob", "ml", "a"),
        (Part("task", (Manifest(BODY, "a", run=True),)),),
        (ExternalReference("Secret", "ml", "b"),),
    )
    received = pickle.loads(pickle.dumps(unit))  # noqa: S301 - our own
    assert received == unit
    assert received.manifests[0].id == unit.manifests[0].id
