"""Rules of a `copy`: what is copied, and where to."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.dataset.places import registry as places
from stowplan.library.dialects.shared import claim_paths, claim_rules
from stowplan.library.ir.data import CachedDataset
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.native.dataset_task import CopyTarget, CopyTask
from stowplan.schema.kinds.native.training_parts import Output
from stowplan.schema.remotes.place import Place
from stowplan.schema.remotes.registry import TARGETS

COPY: FieldPath = ("spec", "copy")
TO: FieldPath = (*COPY, "to")


def of_copy(copy: CopyTask) -> Iterator[Finding]:
    """Yield the findings about `spec.copy` of a DatasetTask that do not depend on the dataset."""
    if copy.sub_path:
        yield from claim_paths.sub_path(copy.sub_path, (*COPY, "subPath"), "dataset")
    yield from of_target(copy.to, TO)
    yield from of_links(copy, COPY)


def of_links(copy: CopyTask | Output, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if the copy at `path` pushes a branch, and says what happens to symbolic links."""
    if copy.links and copy.to.given and copy.to.given[1].PUSHED:
        message = "`links` has no effect: a push copies commits, in which links are links."
        yield without_effect((*path, "links"), message)


def of_target(to: CopyTarget, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the place at `path` to which data is copied."""
    blocks = {name: getattr(to, name) for name in TARGETS}
    yield from exactly_one({**blocks, "claim": to.claim}, path, "A copy goes to one place")
    for name, place in blocks.items():
        if place is not None:
            yield from _place(name, place, (*path, name))
    if to.claim:
        yield from claim_rules.name_findings(to.claim.name, (*path, "claim", "name"))
        if to.claim.sub_path:
            yield from claim_paths.sub_path(to.claim.sub_path, (*path, "claim", "subPath"))


def _place(name: str, place: Place, path: FieldPath) -> Iterator[Finding]:
    if not place.secret_ref:
        message = "To write there needs credentials, and roles of pods and nodes are not used."
        yield finding("SP461", path, message, "Name a Secret as `secretRef`.", anchor=Anchor.KEY)
    yield from places.findings(name, place, path)
    yield from places.PLACES[name].of_target(place, path)


def of_claims(copy: CopyTask, dataset: CachedDataset) -> Iterator[Finding]:
    """Yield a finding about a copy within the claim of the dataset: a pod cannot mount a claim in two ways."""
    if copy.to.claim and copy.to.claim.name == dataset.claim.name:
        message = f"{dataset.names.name} is in claim {dataset.claim.name} itself, and a copy goes to another claim."
        yield finding("SP468", (*TO, "claim", "name"), message, "Name another claim.")
