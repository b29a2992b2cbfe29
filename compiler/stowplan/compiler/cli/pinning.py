"""The command `pin`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.ending import Ending, busy, fail
from stowplan.compiler.cli.environments import chosen
from stowplan.compiler.cli.options import Format, FormatOption, PlatformOption, Repo, repository
from stowplan.compiler.cli.writing import write
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stowplan.compiler.pins.pin_changes import PinChange
    from stowplan.compiler.pins.renewal import Entries
    from stowplan.compiler.pins.trust import Trust
    from stowplan.schema.lock import Lock

_EXTRA = "as `pip install '.[pin]'` does in a checkout of Stowplan"

Update = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Ask for this entry again, such as `ghcr.io/acme/train:*`; may be repeated."),
]
All = Annotated[bool, typer.Option("--all", help="Ask for all entries again.")]
Check = Annotated[
    bool,
    typer.Option("--check", help="Change nothing; fail if an entry is missing, has moved, or is used by nothing."),
]
TrustHost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST[:PORT]",
        help="Send Hugging Face tokens and AWS credentials to this host too, if a spec names it; may be repeated.",
    ),
]


def pin(
    repo: Repo = Path(),
    *,
    platform: PlatformOption = None,
    update: Update = None,
    everything: All = False,
    check: Check = False,
    trust_host: TrustHost = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Write into stowplan.lock what tags, branches and prefixes of the specs stand for. Uses the network.

    Asks for the references that have no entry, and removes entries that nothing uses. Credentials are those of Docker
    or Podman, of git, of `hf auth login` and of the AWS tools; they are never written. A server that only a spec names
    gets none of the latter two, unless --trust-host allows it, and no credentials are sent by plain http.

    Example: stowplan pin --update "ghcr.io/acme/train:*"
    """
    from stowplan.compiler.compiling.pinnable import pinnable  # noqa: PLC0415 - start-up time
    from stowplan.compiler.pins.lock_file import with_entries  # noqa: PLC0415
    from stowplan.compiler.pins.pin_changes import records  # noqa: PLC0415
    from stowplan.compiler.pins.renewal import Choice, renewed  # noqa: PLC0415
    from stowplan.compiler.pins.resolvers.failure import MissingPackageError  # noqa: PLC0415
    from stowplan.compiler.pins.resolvers.registry import resolver  # noqa: PLC0415
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415

    source, report = repository(repo, platform), Report()
    checkout = Checkout(source)
    references, lock = pinnable(checkout, chosen(checkout, source.usual_output, None, output_format), report)
    ending = Ending(source.folder, report, {}, output_format)
    if report.failed:
        ending.finish({})
    choice = Choice(everything or check, tuple(update or ()))
    if unknown := choice.unknown(references):
        raise typer.BadParameter(f"No spec refers to {unknown[0]}.", param_hint="--update")
    asking = partial(resolver, trust=_trust(trust_host or ()))
    try:
        with busy("Asking the remotes"):
            entries = renewed(references, lock, choice, asking, report)
    except MissingPackageError as error:
        fail(f"The package {error.name} is not installed: install Stowplan with its extra `pin`, {_EXTRA}.")
    moved = _moves(lock, entries)
    path = source.folder / source.lock_file
    lines, record = [_line(each) for each in moved], {"pins": records(moved)}
    if report.failed:
        ending.finish(record, [f"{path}: not changed."])
    if check:
        state = "is not up to date" if moved else "is up to date"
        ending.finish(record, [*lines, f"{path} {state}."], failed=bool(moved))
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    text = with_entries(before, entries, source.platform)
    if text is None:
        raise typer.BadParameter(f"{path} is no lock file.", param_hint="REPO")
    if text != before and (moved or before):
        write(path, text, "REPO")
    number = sum(map(len, entries.values()))
    ending.finish(record, [*lines, f"{path}: {len(moved)} changed, {number} in all."])


def _trust(hosts: "Sequence[str]") -> "Trust":
    from stowplan.compiler.pins.trust import OPTION, trusting  # noqa: PLC0415 - start-up time

    try:
        return trusting(hosts)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=OPTION) from None


def _moves(lock: "Lock", entries: "Entries") -> "tuple[PinChange, ...]":
    from stowplan.compiler.pins.pin_changes import pin_changes  # noqa: PLC0415 - start-up time

    after = lock.model_copy(update={section.value: dict(own) for section, own in entries.items()})
    return pin_changes(lock, after)


def _line(move: "PinChange") -> str:
    about = f" ({move.about})" if move.about else ""
    return f"{move.what} {move.key}: {move.revisions}{about}"
