"""Committed runs without a voucher: the present specs did not compile them, and the base does not contain them."""

from collections.abc import Iterable, Mapping

from stowplan.compiler.committed.vouching import Base, Voucher, vouchers
from stowplan.compiler.diff.change import Danger, Risk
from stowplan.compiler.model import Output
from stowplan.compiler.output.render import entry_of
from stowplan.schema.diagnostics import Severity


def judged(before: Mapping[str, bytes], revision: str | None) -> Base:
    """Return the files to compare with as a base that only warns: unvouched runs are shown, not refused."""
    return Base(revision or "the output folder", vouchers(before), severity=Severity.WARNING)


def unvouched(before: Mapping[str, bytes], outputs: Iterable[Output]) -> dict[str, Risk]:
    """Return a risk for each file of a committed run, by path, that is not in `before`, the files to compare with."""
    kept = [output for output in outputs if output.kept]
    known = vouchers(before) if kept else frozenset()
    return {
        output.path: Risk(Danger.SECURITY, _TEXT)
        for output in kept
        if Voucher.of(entry_of(output, output.kept)) not in known
    }


_TEXT = "Nobody vouches for this file of a run: the specs do not compile to it, and the base does not have it."
