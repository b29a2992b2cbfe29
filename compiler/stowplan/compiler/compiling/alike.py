"""Clusters of one environment: they differ in what Argo CD is told, so their specs are compiled once for all."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from stowplan.compiler.committed.last_output import Committed
from stowplan.compiler.committed.vouching import Base
from stowplan.compiler.compiling.compile_all import Parts
from stowplan.compiler.compiling.compile_specs import Setting
from stowplan.compiler.compiling.reading import Reading
from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.model import Output
from stowplan.compiler.output import inventory_files, paths
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.specs import platform as platform_file

_APART = (paths.ARGOCD, paths.INVENTORY, inventory_files.OLD)
"""What differs between the output folders of equal clusters."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a cluster was compiled from, without errors, and the results `specs` of all its specs.

    `read` are the diagnostics of reading. `others` are the plain objects.
    """

    target: Target
    reading: Reading
    read: tuple[Diagnostic, ...]
    setting: Setting
    others: tuple[Output, ...]
    specs: Parts

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of reading and of lowering."""
        return [*self.read, *(each for spec in self.reading.facts for each in self.specs.lowered[spec.id])]


def of_environment(made: Made | None, target: Target) -> Made | None:
    """Return `made` if it is of a cluster of the same environment as `target`, else None."""
    return made if made and made.target.environment is target.environment else None


def again(made: Made, target: Target, found: Inventory, tree: OutputFolder, base: Base | None) -> Made | None:
    """Return `made` for `target` if the results of the specs are right for it; None if it must be compiled in full.

    They are if `target` is a cluster of the same environment whose committed output is the same: `found` is its
    inventory, `tree` lists its folder, and `base` has the runs of its base commit.
    """
    before = made.setting.committed
    if before is None or base != before.base or _lines(found) != _lines(before.inventory):
        return None
    moved = for_checks(made, target) if _same(tree, before.tree) else None
    if moved is None:
        return None
    committed = Committed.of(found, tree, [each.id for each in made.reading.facts], base)
    return replace(moved, setting=replace(moved.setting, committed=committed))


def for_checks(made: Made, target: Target) -> Made | None:
    """Return `made` for `target`, with the committed output of the other cluster; None if the checks may differ.

    They are equal if `target` is a cluster of the same environment with a platform file that has the same problems.
    """
    if target.environment is not made.target.environment or made.specs.reused:
        return None
    report, other = Report(), Report()
    document = made.reading.pinned(target.platform)
    platform = platform_file.platform(document, report)
    platform_file.platform(made.reading.pinned(made.target.platform), other)
    if platform is None or report.diagnostics != other.diagnostics:
        return None
    program = replace(made.reading.program, platform=platform, platform_document=document)
    context = replace(made.setting.context, platform=platform)
    reading = replace(made.reading, program=program, context=context)
    return replace(
        made, target=target, reading=reading, setting=replace(made.setting, program=program, context=context)
    )


def _lines(found: Inventory) -> tuple[bool, list[str]]:
    return found.complete, [each.line for each in found.entries if _own([each.path])]


def _same(one: OutputFolder, other: OutputFolder) -> bool:
    """Whether two output folders have the same files with the same contents, and nothing that is no file."""
    if any(_own((*each.others, *each.leftovers)) for each in (one, other)):
        return False
    pairs = ((one.files, other.files), (one.folders, other.folders), (one.empty, other.empty))
    try:
        return all(_own(mine) == _own(others) for mine, others in pairs) and all(
            one.read(path) == other.read(path) for path in sorted(_own(one.files))
        )
    except OSError:
        return False


def _own(found: Iterable[str]) -> set[str]:
    return {path for path in found if path.partition("/")[0] not in _APART}
