"""What a plan may look at besides its own spec: the platform file, and all specs that are migrated together."""

from collections.abc import Iterator
from dataclasses import dataclass

from stowplan.compiler.model import Spec
from stowplan.library.dialects.dataset.volumes.registry import held
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.native.dataset import Dataset
from stowplan.schema.kinds.sample_set import DatasetClaim, SampleSet
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform


@dataclass(frozen=True, slots=True)
class Scope:
    """The platform, with its defaults if there is no platform file, and the specs without errors."""

    platform: Platform
    specs: tuple[Spec, ...]

    def find(self, kind: str, namespace: str, name: str) -> Spec | None:
        """Return the spec of this identity; None if there is none."""
        return next((each for each in self.specs if each.id == SpecId(kind, namespace, name)), None)

    def of_kind(self, kind: str, namespace: str) -> Iterator[Spec]:
        """Yield the specs of a kind in a namespace."""
        return (each for each in self.specs if (each.id.kind, each.id.namespace) == (kind, namespace))


def claim_of(spec: Spec) -> tuple[str, str] | None:
    """Return name and directory, empty for the root, of the claim that a spec has or fills; None for other specs."""
    model, name = spec.model, spec.id.name
    match model:
        case Dataset():
            claim = held(model, spec.id.namespace).claim
            return claim.name, claim.sub_path
        case SampleSet():
            csi = model.spec.csi
            given = (csi.claim if csi and csi.driver == "pvc" else None) or DatasetClaim()
            return given.name or name, directory(given.sub_path)
        case DataCube():
            sink = model.spec.sink.pvc
            return (sink.name or "", directory(sink.sub_path)) if sink else None
    return None


def directory(sub_path: str | None) -> str:
    """Return a directory of a claim without `.`, and without slashes at its ends; empty for the root."""
    return "/".join(part for part in (sub_path or "").split("/") if part not in ("", "."))


def refers_to(user: Spec, dataset: Spec) -> bool:
    """Return whether the spec `user` names `dataset` in the field of its kind that names datasets."""
    reference = KINDS[user.id.kind].datasets
    if reference is None or (reference.kind, user.id.namespace) != (dataset.id.kind, dataset.id.namespace):
        return False
    return any(name == dataset.id.name for name, _ in reference.names(user.document.data))
