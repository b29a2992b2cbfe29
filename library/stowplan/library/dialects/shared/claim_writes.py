"""The directory of a claim that a spec writes to, the claim that it creates, and conflicts between two specs."""

from dataclasses import dataclass

from stowplan.schema.diagnostics import FieldPath, Finding, finding


@dataclass(frozen=True, slots=True)
class Write:
    """A directory of a claim that a spec uses: `path` in the claim, empty for the root.

    `writes` is true if the spec writes to the directory, `mirror` if it also deletes files in it. `at` is the path of
    the field that names the directory, `template` the path of the claim's template, empty if there is none.
    """

    namespace: str
    claim: str
    path: str
    mirror: bool
    at: FieldPath
    template: FieldPath = ()
    writes: bool = True


def clash(own: Write, other: Write, name: str) -> list[Finding]:
    """Return a finding if the writes `own` of a spec conflict with the writes `other` of the spec `name`.

    Return an empty list if they do not. The finding is at the spec of `own`.
    """
    if (own.namespace, own.claim) != (other.namespace, other.claim) or not (own.writes and other.writes):
        return []
    if own.path == other.path:
        message = f"{name} writes to {_place(own)} too; files of one name overwrite each other."
        hint = "Give each a `subPath` of its own."
    elif _within(own.path, other.path) and other.mirror:
        message = f"{name} mirrors {_place(other)} and would delete what is copied here."
        hint = "Choose directories that are not within each other."
    elif _within(other.path, own.path) and own.mirror:
        message = f"The mirror would delete what {name} copies to {_place(other)}."
        hint = "Choose directories that are not within each other."
    else:
        return []
    return [finding("SP320", own.at, message, hint)]


def _place(write: Write) -> str:
    return f"{write.path or 'the root'} of claim {write.claim}"


def _within(inner: str, outer: str) -> bool:
    return not outer or inner.startswith(f"{outer}/")


def made_twice(own: Write, other: str) -> Finding:
    """Return a finding about the claim template of `own`: the spec `other` creates the same claim."""
    message = f"{other} makes the claim {own.claim} too."
    hint = "Leave the template at one of them; the others name the claim."
    return finding("SP321", own.template, message, hint)
