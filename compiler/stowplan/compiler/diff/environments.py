"""Comparison of environments with each other: what each has of every spec, and what it is behind the one before it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stowplan.compiler.checks.objects.pods import images_of
from stowplan.compiler.committed.runs import by_spec
from stowplan.compiler.committed.started import run_of
from stowplan.compiler.environments.target import Target
from stowplan.compiler.kubernetes.fields import strings
from stowplan.compiler.model import OutputFile, Program
from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class Cell:
    """What one environment or cluster has of a spec.

    `run` is the hash of its run, empty without one. `waits` is whether the run that the spec compiles to waits to be
    started; `run` is then an earlier one, which goes on. `images` are its images as `name:tag`: registries differ
    between environments by intention. `revisions` are the values of its fields `revision`: of Git, of a Hub, of data.
    """

    run: str = ""
    waits: bool = False
    images: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()

    @property
    def progress(self) -> int:
        """How far the run is: 2 if the present one is written or there is no run, 1 for an earlier one, 0 for none."""
        return 2 if not self.waits else int(bool(self.run))


Cells = Mapping[SpecId, Cell]


@dataclass(frozen=True, slots=True)
class EnvironmentColumn:
    """The environment `environment`, or one of its clusters if they are not equal, with what it has by spec.

    `name` is that of the environment, or `<environment>/<cluster>`.
    """

    name: str
    environment: str
    cells: Cells


@dataclass(frozen=True, slots=True)
class Lag:
    """What the column `of` has and the column `name` of the next environment has not.

    `missing` are specs, `alone` the specs that only the next environment has. `older` has both cells of the specs that
    are different: first that of the environment before.
    """

    name: str
    of: str
    missing: tuple[SpecId, ...]
    alone: tuple[SpecId, ...]
    older: Mapping[SpecId, tuple[Cell, Cell]]

    @property
    def number(self) -> int:
        """The number of specs by which the environment is behind."""
        return len(self.missing) + len(self.older)


def cells(program: Program, outputs: Sequence[OutputFile], waiting: Iterable[SpecId]) -> dict[SpecId, Cell]:
    """Return what a target has of each spec, by its outputs. `waiting` are the specs whose run is not started."""
    own, later = by_spec(outputs), frozenset(waiting)
    return {
        spec.id: Cell(
            run_of(own.get(spec.id, ())),
            spec.id in later,
            tuple(sorted({_short(image) for each in own.get(spec.id, ()) for image in images_of(each.manifest.body)})),
            tuple(text for path, text in strings(spec.document.data.get("spec")) if path[-1:] == ("revision",)),
        )
        for spec in program.specs
    }


def columns(found: Sequence[tuple[Target, Cells]]) -> list[EnvironmentColumn]:
    """Return one column for each environment, or for each of its clusters where these are not equal, in their order."""
    names = list(dict.fromkeys(target.environment.name for target, _ in found))
    result: list[EnvironmentColumn] = []
    for name in names:
        own = [(target, held) for target, held in found if target.environment.name == name]
        same = all(held == own[0][1] for _, held in own)
        shown = [(name, own[0][1])] if same else [(each.name, held) for each, held in own]
        result += [EnvironmentColumn(title, name, held) for title, held in shown]
    return result


def different(found: Sequence[EnvironmentColumn]) -> list[SpecId]:
    """Return the specs whose cells are not equal in all columns, or missing in some, sorted."""
    specs = sorted({spec for column in found for spec in column.cells})
    return [spec for spec in specs if len({column.cells.get(spec) for column in found}) > 1]


def lags(found: Sequence[EnvironmentColumn]) -> Iterator[Lag]:
    """Yield what each environment is behind the one before it, in the order of the platform file.

    There is a lag for each pair of their columns, also where nothing is behind.
    """
    order = list(dict.fromkeys(each.environment for each in found))
    for before, after in pairwise(order):
        for ahead in (each for each in found if each.environment == before):
            for behind in (each for each in found if each.environment == after):
                yield _lag(ahead, behind)


def _lag(ahead: EnvironmentColumn, behind: EnvironmentColumn) -> Lag:
    both = sorted(ahead.cells.keys() & behind.cells.keys())
    pairs = {spec: (ahead.cells[spec], behind.cells[spec]) for spec in both}
    return Lag(
        behind.name,
        ahead.name,
        tuple(sorted(ahead.cells.keys() - behind.cells.keys())),
        tuple(sorted(behind.cells.keys() - ahead.cells.keys())),
        {spec: pair for spec, pair in pairs.items() if _is_older(*pair)},
    )


def _is_older(ahead: Cell, behind: Cell) -> bool:
    """Whether one environment is behind in a spec. Runs have other hashes wherever patches or settings change them."""
    return (
        behind.progress < ahead.progress
        or bool(other_images(ahead, behind))
        or (ahead.revisions != behind.revisions and behind.progress == ahead.progress)
    )


def other_images(ahead: Cell, behind: Cell) -> list[tuple[str, str]]:
    """Return the images of one name that have another tag or digest in the next environment, as pairs (ahead, behind).

    An image that only one of them has is a matter of their settings, unless they have no name in common.
    """
    there, here = ({_name(each): each for each in cell.images} for cell in (ahead, behind))
    if there and here and not there.keys() & here.keys():
        return [(" and ".join(ahead.images), " and ".join(behind.images))]
    return [(there[name], here[name]) for name in sorted(there.keys() & here.keys()) if there[name] != here[name]]


def _name(image: str) -> str:
    return image.partition("@")[0].partition(":")[0]


def _short(image: str) -> str:
    """Return an image without its registry and folders, and with the first 12 characters of a digest."""
    name, at, digest = image.rpartition("/")[2].partition("@")
    return f"{name}{at}{digest[:19]}"
