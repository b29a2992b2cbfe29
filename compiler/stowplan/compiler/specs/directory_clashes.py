"""Clashes between the directories of volumes that two specs use: SP320, SP321, SP323, SP466 and SP724."""

from stowplan.library.dialects.shared.claim_writes import Write
from stowplan.schema.diagnostics import Finding, Severity, finding


def clash(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if the writes `own` of a spec conflict with the writes `other` of the spec `name`.

    Return an empty list if they do not. The finding is at the spec of `own`.
    """
    if own.volume != other.volume:
        return []
    if own.lineage or other.lineage:
        return (_nested if own.lineage and other.lineage else _checkpoints)(own, other, name)
    if not (own.writes and other.writes):
        return _read(own, other, name)
    return (_mixed if own.dataset and other.dataset else _written)(own, other, name)


def _written(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if two specs copy to one directory, or one deletes what the other copies."""
    if own.path == other.path:
        return [_same(own, other, name)]
    if _within(own.path, other.path) and other.mirror:
        message = f"{name} mirrors {_place(other)} and would delete what is copied here."
    elif _within(other.path, own.path) and own.mirror:
        message = f"The mirror would delete what {name} copies to {_place(other)}."
    else:
        return []
    return [finding("SP320", own.at, message, "Choose directories that are not within each other.")]


def _same(own: Write, other: Write, name: str) -> Finding:
    message = f"{name} writes to {_place(other)} too; files of one name overwrite each other."
    return finding("SP320", own.at, message, "Give each a `subPath` of its own.")


def _checkpoints(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if one of two specs deletes the checkpoints of the other one, or copies into their directory.

    Nothing brings deleted checkpoints back, so that is an error.
    """
    lineage, copies = (own, other) if own.lineage else (other, own)
    if copies.mirror and (lineage.path == copies.path or _within(lineage.path, copies.path)):
        message = f"{name} mirrors {_place(other)} and would delete the checkpoints that are saved here."
        if copies is own:
            message = f"The mirror would delete the checkpoints that {name} saves to {_place(other)}."
        hint = (
            "Do not delete there, or give the data a `subPath` elsewhere. Or choose another claim or `lineage` for the "
            "checkpoints; copied to that directory, the job goes on from them."
        )
        return [finding("SP320", own.at, message, hint, severity=Severity.ERROR)]
    return [_same(own, other, name)] if lineage.path == copies.path and copies.writes else []


def _nested(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if one lineage is within another one; that two jobs have the same one is SP721."""
    if _within(own.path, other.path):
        where = f"is within {other.path} of {name}"
    elif _within(other.path, own.path):
        where = f"holds {other.path} of {name}"
    else:
        return []
    message = f"The directory {own.path} of its checkpoints {where}: a job finds those of the other among its own."
    hint = (
        "Choose another `lineage` for one of them. Its job goes on from its checkpoints if they are moved to the "
        "directory of that name."
    )
    return [finding("SP724", own.at, message, hint)]


def _mixed(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if two datasets overlap that both are filled.

    Two SampleSets may be the same directory with the same source.
    """
    same, native = own.path == other.path, own.native or other.native
    if not _overlap(own, other) or (same and own.dataset == other.dataset and not native):
        return []
    where = f"is in {_place(other)}" if same else f"is in {_place(other)}, this one in {own.path or 'the root'}"
    message = f"The dataset {name} {where}: the files of both would be mixed."
    if same:
        message = f"{message[:-1]}, and jobs that wait for one would start when the other one is complete."
    hint = f"Give each dataset a directory of its own: `{own.field}`."
    if own.field != other.field:
        hint = f"Give each dataset a directory of its own: `{own.field}` here, `{other.field}` of {name}."
    return [finding("SP323", own.at, message, hint)]


def _read(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if two datasets overlap of which at most one is filled, and one is a Dataset.

    To read what another dataset fills is a way to share it, so equal directories are no more than an info.
    """
    datasets = all(each.native or each.dataset for each in (own, other))
    if not datasets or not (own.native or other.native) or not _overlap(own, other):
        return []
    if own.path == other.path:
        message = f"{name} has the same data, in {_place(other)}."
        hint = "Nothing to do if they share it."
        return [finding("SP466", own.at, message, hint, severity=Severity.INFO)]
    message = f"{name} is in {_place(other)}, this one in {own.path or 'the root'}: one holds the files of the other."
    return [finding("SP466", own.at, message, "Give each dataset a directory of its own, or share the whole.")]


def _overlap(own: Write, other: Write) -> bool:
    return own.path == other.path or _within(own.path, other.path) or _within(other.path, own.path)


def _place(write: Write) -> str:
    kind = "the volume of Secret" if write.by_secret else "claim"
    return f"{write.path or 'the root'} of {kind} {write.claim}"


def _within(inner: str, outer: str) -> bool:
    return not outer or inner.startswith(f"{outer}/")


def made_twice(own: Write, other: str) -> Finding:
    """Return a finding about the claim template of `own`: the spec `other` creates the same claim."""
    message = f"{other} makes the claim {own.claim} too."
    hint = "Leave the template at one of them; the others name the claim."
    return finding("SP321", own.template, message, hint)
