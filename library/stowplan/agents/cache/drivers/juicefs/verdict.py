"""Result of a `juicefs sync` process. Its exit code alone proves no success; the final count in its log is needed."""

import re
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.child import ChildEnd
from stowplan.schema.agents.exit_codes import ExitCode

NOT_FORMATTED = "database is not formatted"

_COUNT = re.compile(
    r"Found: (?P<found>\d+), excluded: (?P<excluded>\d+) .*?skipped: (?P<skipped>\d+) .*?copied: (?P<copied>\d+) "
    r".*?extra: \d+ "
)
_SIZE = r"{}: \d+ \((?P<number>[\d.]+) (?P<unit>[KMGTPE]?)i?B\)"
_SKIPPED, _COPIED = re.compile(_SIZE.format("skipped")), re.compile(_SIZE.format("copied"))
_UNITS = " KMGTPE"
_FAILED, _LOST, _DELETED = (re.compile(rf", {word}: (\d+)") for word in ("failed", "lost", "deleted"))

_PERMISSION = re.compile(r"permission denied|operation not permitted", re.IGNORECASE)
_SPEC = re.compile(
    r"unknown option|flag provided but not defined|requires value|SRC and DST should both end|[Ii]nvalid value|"
    r"failed to parse|should not be (?:larger|less)|Invalid meta driver|invalid storage|Can't parse|no bucket name"
)
_AUTH = re.compile(
    r"AccessDenied|Access Denied|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|"
    r"AuthorizationHeaderMalformed|StatusCode: 40[13]|40[13] (?:Forbidden|Unauthorized)|"
    r"WRONGPASS|NOAUTH|NOPERM|Access denied for user|password authentication failed|"
    r"failed to (?:retrieve|refresh cached) credentials|"
    r"no EC2 IMDS role found"
)
_EXPIRED = re.compile(r"ExpiredToken|SecurityTokenExpired|TokenRefreshRequired")
"""Error codes of stores for a session token that was valid. The next attempt has those of the Secret as it is then."""

_IN_THE_WAY = re.compile(r"\b(?:is|not) a directory", re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"NoSuchBucket|StatusCode: 404|404 Not Found|bucket does not exist|no such file or directory|NoSuchKey"
)

_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)

CLAIM_GROUP = (
    "the files of this claim belong to another user, and its storage does not give them to the group 65532 (`fsGroup`)"
)
TASK_USER = (
    "the files of this volume belong to another user: the platform's `juicefs.taskUser: 0` lets tasks work on a volume"
    " that the old operator filled as root"
)


@dataclass(frozen=True, slots=True)
class Count:
    """Numbers of objects in the final line of a sync's log."""

    found: int
    excluded: int
    """Objects of the source and of the destination that a pattern excludes."""
    skipped: int
    """Objects that the destination already had."""
    copied: int
    failed: int
    lost: int
    skipped_bytes: int = 0
    copied_bytes: int = 0
    """Size of all skipped and of all copied objects; not exact: JuiceFS rounds to hundredths of KiB, MiB and so on."""
    deleted: int = 0


def count(ended: ChildEnd) -> Count | None:
    """Return the final count of a sync from its log; None if the log has none."""
    for line in reversed(ended.lines):
        if found := _COUNT.search(line.text):
            failed, lost, deleted = (each.search(line.text) for each in (_FAILED, _LOST, _DELETED))
            numbers = {name: int(number) for name, number in found.groupdict().items()}
            return Count(
                **numbers,
                failed=int(failed[1]) if failed else 0,
                lost=int(lost[1]) if lost else 0,
                deleted=int(deleted[1]) if deleted else 0,
                skipped_bytes=_bytes(_SKIPPED.search(line.text)),
                copied_bytes=_bytes(_COPIED.search(line.text)),
            )
    return None


def _bytes(found: re.Match[str] | None) -> int:
    return round(float(found["number"]) * (1 << 10 * _UNITS.index(found["unit"] or " "))) if found else 0


def failure(ended: ChildEnd, what: str, *, claim: bool = False) -> AttemptError | None:
    """Return the failure of a sync; None if the sync finished without failed or lost objects.

    `what` names what was copied, for the message, such as `the source s3://bucket/path`. `claim` is true if it was
    copied into a claim, not into a volume of JuiceFS.
    """
    counted = count(ended)
    if counted and not ended.code and not counted.failed and not counted.lost:
        return None
    said = "\n".join(line.text for line in ended.complaints) or ended.text[-500:]
    text = _short(ended, counted)
    if NOT_FORMATTED in said:
        message = "The volume is not formatted, and its Secret does not tell how: it has no `storage` and `bucket`"
        return AttemptError(ExitCode.NOT_FOUND, "NotFormatted", message)
    if _PERMISSION.search(said):
        why = CLAIM_GROUP if claim else TASK_USER
        return AttemptError(ExitCode.AUTH, "NoPermission", f"No permission for {what}: {why}. JuiceFS says: {text}")
    if claim and _FULL.search(said):
        return AttemptError(ExitCode.CONFLICT, "NoSpace", f"The claim has no space for {what}: {text}")
    for pattern, code, reason, word in (
        (_SPEC, ExitCode.BAD_SPEC, "BadSpec", "JuiceFS refuses the options of"),
        (_EXPIRED, ExitCode.TRANSIENT, "ExpiredCredentials", "The session token is no longer valid: renew it for"),
        (_AUTH, ExitCode.AUTH, "AccessDenied", "No access to"),
        (
            _IN_THE_WAY,
            ExitCode.CONFLICT,
            "IsADirectory",
            "A folder has the path of a file, or a file that of a folder: remove it for",
        ),
        (_NOT_FOUND, ExitCode.NOT_FOUND, "NotFound", "There is no"),
    ):
        # An object that disappeared during the sync is no missing source.
        if pattern.search(said) and not (counted and code is ExitCode.NOT_FOUND):
            return AttemptError(code, reason, f"{word} {what}: {text}")
    return AttemptError(ExitCode.TRANSIENT, "SyncFailed", f"JuiceFS failed on {what}: {text}")


def checked(ended: ChildEnd, what: str) -> Count:
    """Return the final count of a sync. Raises the failure of the sync, if it has one, with `what` in its message."""
    problem, counted = failure(ended, what), count(ended)
    # Without a count a sync has failed.
    if problem or counted is None:
        raise problem or AssertionError
    return counted


def _short(ended: ChildEnd, counted: Count | None) -> str:
    complaints = [line.shown for line in ended.complaints]
    said = complaints[-1:] or [line.shown for line in ended.lines[-1:]]
    first = complaints[:1] if len(complaints) > 1 else []
    numbers = [f"{counted.failed} failed, {counted.lost} lost of {counted.found}"] if counted else []
    how = [] if complaints else [f"ended with {ended.code}"]
    return "; ".join(dict.fromkeys([*numbers, *how, *first, *said]))[:1000]
