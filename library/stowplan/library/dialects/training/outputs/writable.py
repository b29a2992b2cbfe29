"""Outputs of a Training, and the directories that hold them: the trainer writes to them, and they outlive its pods."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from stowplan.library.dialects.training.datasets import MountedDataset
from stowplan.library.dialects.training.job import Job
from stowplan.library.manifest import Json
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.kinds.native.training_parts import Output

Attachment = Literal["anywhere", "near", "impossible"]
"""`near` is on the node of the trainer. `impossible` is a claim for one pod, or for one node under several trainers."""

_MANY = "ReadWriteMany"
_ONE_POD = "ReadWriteOncePod"


class Writable(NamedTuple):
    """A directory of a claim: `sub_path` in the claim, `mount_path` in the trainer.

    `modes` are the access modes of the claim; None if the specs do not say them. `attachment` is where another pod that
    reads the directory can run. `cached` is true for a JuiceFS volume. `tolerations` are those of pods that work on the
    data.
    """

    mount_path: str
    claim: str
    sub_path: str
    modes: tuple[str, ...] | None
    attachment: Attachment
    cached: bool = False
    tolerations: tuple[Json, ...] = ()

    def inside(self, path: str) -> str:
        """Return a `path` of the trainer in this directory as a path relative to it; empty for the directory itself."""
        return path.rstrip("/").removeprefix(self.mount_path.rstrip("/")).strip("/")


def directories(job: Job, datasets: Iterable[MountedDataset]) -> Iterator[Writable]:
    """Yield the directories that a job can write to: those of `datasets`, which it mounts, and of its checkpoints."""
    several = job.most_pods > 1 or job.bounds is not None
    for given, dataset, _ in datasets:
        if not given.read_only:
            claim, cached = dataset.claim, dataset.cached
            modes = (_MANY,) if cached else _modes(claim.template)
            at, tolerations = _attachment(modes, several=several), tuple(dataset.placement.tolerations)
            yield Writable(given.mount_path, claim.name, claim.sub_path, modes, at, cached, tolerations)
    if kept := job.checkpoints:
        modes = _modes(kept.template)
        yield Writable(kept.given.mount_path, kept.name, "", modes, _attachment(modes, several=several))


class PlacedOutput(NamedTuple):
    """An output of a Training: its number in the spec, from 0, and the directory that holds it; None if none does."""

    number: int
    output: Output
    home: Writable | None


def placed(model: Training, directories: Sequence[Writable]) -> Iterator[PlacedOutput]:
    """Yield every output of a Training in the order of the spec, with the directory that holds its path.

    `directories` are those that the function `directories` yields. The innermost one counts. `home` is None if none
    holds the path, or if the path is relative or has `..` in it.
    """
    for index, output in enumerate(model.spec.outputs or ()):
        whole = output.path.startswith("/") and ".." not in output.path.split("/")
        yield PlacedOutput(index, output, _holding(output.path, directories) if whole else None)


def _holding(path: str, directories: Sequence[Writable]) -> Writable | None:
    """Return the directory that holds `path`, the innermost of several."""
    within = [each for each in directories if f"{path.rstrip('/')}/".startswith(f"{each.mount_path.rstrip('/')}/")]
    return max(within, key=lambda each: len(each.mount_path), default=None)


def _modes(template: Json | None) -> tuple[str, ...] | None:
    """Return the access modes in the template of a claim; None without a template or without modes."""
    modes = ((template or {}).get("spec") or {}).get("accessModes")
    return tuple(map(str, modes)) if modes else None


def _attachment(modes: tuple[str, ...] | None, *, several: bool) -> Attachment:
    """Return where another pod can mount a claim.

    A claim of unknown modes that `several` trainers mount can be mounted by several nodes.
    """
    if modes is None:
        return "anywhere" if several else "near"
    if _MANY in modes:
        return "anywhere"
    return "impossible" if several or modes == (_ONE_POD,) else "near"
