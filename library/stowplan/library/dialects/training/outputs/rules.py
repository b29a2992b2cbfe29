"""Rules of `spec.outputs` of a Training."""

from collections.abc import Iterable, Iterator, Sequence

from stowplan.library.dialects.dataset_task import copy_rules
from stowplan.library.dialects.shared import claim_paths
from stowplan.library.dialects.training.outputs.writable import PlacedOutput, Writable
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.kinds.native.training_parts import Output
from stowplan.schema.platform.platform import Platform

PATH: FieldPath = ("spec", "outputs")


def of_spec(model: Training, platform: Platform) -> Iterator[Finding]:
    """Yield findings that depend on the spec and the platform alone."""
    if model.spec.outputs and not platform.reporter:
        message = "Without a reporter nobody would say whether an output was copied: the job would look done before."
        yield finding("SP733", PATH, message, "Remove `reporter: false` from the platform file.", anchor=Anchor.KEY)
    for index, output in enumerate(model.spec.outputs or ()):
        yield from copy_rules.of_target(output.to, (*PATH, index, "to"))
        yield from copy_rules.of_links(output, (*PATH, index))


def of_places(outputs: Iterable[PlacedOutput], directories: Sequence[Writable]) -> Iterator[Finding]:
    """Yield findings about outputs in none of `directories`, which outlive pods, or that another pod could not read."""
    for index, output, home in outputs:
        at = (*PATH, index)
        if home is None:
            yield _nowhere(output, directories, (*at, "path"))
            continue
        if output.to.claim and output.to.claim.name == home.claim:
            message = f"{output.path} is in claim {home.claim} itself, and a copy goes to another claim."
            yield finding("SP468", (*at, "to", "claim", "name"), message, "Name another claim.")
        if inside := home.inside(output.path):
            yield from claim_paths.sub_path(inside, (*at, "path"))
        yield from _attached(output, home, (*at, "path"))


def _nowhere(output: Output, directories: Sequence[Writable], at: FieldPath) -> Finding:
    mounts = sorted({each.mount_path for each in directories})
    message = f"{output.path} is in no directory that the job can write to and that outlives its pods."
    hint = "Add `checkpoints`, or mount a dataset with `readOnly: false`, and give a path below its `mountPath`."
    if mounts:
        hint = f"Give a path below {' or '.join(mounts)}."
    return finding("SP732", at, message, hint)


def _attached(output: Output, home: Writable, at: FieldPath) -> Iterator[Finding]:
    """Yield findings about a claim that the trainer and the pod of the output could not both mount."""
    match home.attachment:
        case "impossible":
            message = (
                f"Of {home.claim} at most one node or pod can mount the claim, so no other pod can read the output."
            )
            hint = "Use a claim with the access mode ReadWriteMany, or a JuiceFS volume."
            yield finding("SP734", at, message, hint)
        case "near" if home.modes is None:
            message = (
                f"The specs do not say whether several nodes can mount {home.claim}, so {output.path} is copied on the"
                " node of the trainer, by a pod that must be placed while the trainer's pod exists."
            )
            hint = "To copy also later, give the claim as a template with the access mode ReadWriteMany."
            yield finding("SP735", at, message, hint)
