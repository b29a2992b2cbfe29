"""Selection of the files of a repository to copy, by names and by patterns."""

from collections.abc import Iterable, Sequence

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.schema.agents.exit_codes import ExitCode

SHOWN = 10
"""Maximum number of missing names that an error message lists."""


def chosen(found: Iterable[RemoteFile], names: Sequence[str], patterns: Patterns) -> list[RemoteFile]:
    """Return the files in `found` whose path is in `names` (all if that is empty) and that the patterns select.

    Names are taken literally, not as patterns. Raises AttemptError (exit code 4) if `found` lacks one of them; its
    message lists the missing names.
    """
    wanted = [name.strip() for name in names]
    files = [each for each in found if not wanted or each.key in wanted]
    missing = sorted(set(wanted) - {each.key for each in files})
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        message = f"The repository has no {', '.join(map(repr, missing[:SHOWN]))}{more}. Nothing was fetched"
        raise AttemptError(ExitCode.NOT_FOUND, "FilesMissing", message)
    return [each for each in files if patterns.take(each.key)]
