"""Rules of a `copy`: what is copied, and where to."""

from collections.abc import Iterator

from stowplan.library.dialects.dataset import sources
from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.shared import claim_paths, claim_rules
from stowplan.library.ir.data import CachedDataset
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.dataset_task import CopyTarget, CopyTask
from stowplan.schema.kinds.native.training_parts import Output

COPY: FieldPath = ("spec", "copy")
TO: FieldPath = (*COPY, "to")


def of_copy(copy: CopyTask) -> Iterator[Finding]:
    """Yield findings that do not depend on the dataset."""
    if copy.sub_path:
        yield from claim_paths.sub_path(copy.sub_path, (*COPY, "subPath"), "dataset")
    yield from of_target(copy.to, TO)
    yield from of_links(copy, COPY)


def of_links(copy: CopyTask | Output, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if the copy at `path` pushes a branch, and says what happens to symbolic links."""
    if copy.links and copy.to.git:
        message = "`links` has no effect: a push copies commits, in which links are links."
        yield finding("SP406", (*path, "links"), message, "Remove it.", anchor=Anchor.KEY)


def of_target(to: CopyTarget, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the place at `path` to which data is copied."""
    places = {"s3": to.s3, "huggingface": to.huggingface, "git": to.git}
    yield from exactly_one({**places, "claim": to.claim}, path, "A copy goes to one place")
    for key, place in places.items():
        if place is not None and place.secret_ref:
            yield from sources.secret(place.secret_ref, (*path, key, "secretRef"))
        elif place is not None:
            message = "To write there needs credentials, and roles of pods and nodes are not used."
            yield finding("SP461", (*path, key), message, "Name a Secret as `secretRef`.", anchor=Anchor.KEY)
    yield from _places(to, path)


def _places(to: CopyTarget, path: FieldPath) -> Iterator[Finding]:
    if to.s3:
        yield from sources.s3(to.s3, (*path, "s3"))
    if to.huggingface:
        yield from sources.hub(to.huggingface, (*path, "huggingface"))
        if to.huggingface.path:
            yield from claim_paths.sub_path(to.huggingface.path, (*path, "huggingface", "path"), "repository")
    if to.git:
        yield from sources.git(to.git, (*path, "git"))
        if to.git.ref is not None:
            message = "A copy pushes the branch that is checked out in the dataset, and no other one."
            yield finding("SP468", (*path, "git", "ref"), message, "Remove it.", anchor=Anchor.KEY)
    if to.claim:
        yield from claim_rules.name_findings(to.claim.name, (*path, "claim", "name"))
        if to.claim.sub_path:
            yield from claim_paths.sub_path(to.claim.sub_path, (*path, "claim", "subPath"))


def of_claims(copy: CopyTask, dataset: CachedDataset) -> Iterator[Finding]:
    """Yield a finding about a copy within the claim of the dataset: a pod cannot mount a claim in two ways."""
    if copy.to.claim and copy.to.claim.name == dataset.claim.name:
        message = f"{dataset.names.name} is in claim {dataset.claim.name} itself, and a copy goes to another claim."
        yield finding("SP468", (*TO, "claim", "name"), message, "Name another claim.")
