"""Committed runs that nobody reviewed: the specs do not compile to them now, and the base commit does not have them."""

from collections.abc import Iterable, Mapping

from stowplan.compiler.committed.vouching import RUN_KINDS, Base, Voucher, vouchers
from stowplan.compiler.diff.change import Danger, Risk
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.render import entry_of
from stowplan.schema.diagnostics import Severity


def judged(before: Mapping[str, bytes], revision: str | None) -> Base:
    """Return a base commit that vouches for the runs in `before`, the files by path that `diff` compares with.

    Reused runs that it does not vouch for are warnings, so that `diff` shows them in place of refusing them.
    `revision` is the commit of the files; None for the output folder as it is.
    """
    runs = frozenset(each for each in vouchers(before) if (each.id.group, each.id.kind) in RUN_KINDS)
    return Base(revision or "the output folder", runs, severity=Severity.WARNING)


def unvouched(before: Mapping[str, bytes], outputs: Iterable[OutputFile]) -> dict[str, Risk]:
    """Return a risk, by path, for each file of a reused run that is not in `before`, the files to compare with."""
    reused = [output for output in outputs if output.reused]
    known = vouchers(before) if reused else frozenset()
    return {
        output.path: Risk(Danger.SECURITY, _TEXT)
        for output in reused
        if Voucher.of(entry_of(output, output.reused)) not in known
    }


_TEXT = "Nobody vouches for this file of a run: the specs do not compile to it, and the base does not have it."
