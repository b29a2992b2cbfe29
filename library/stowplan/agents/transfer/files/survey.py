"""Count of the files of a source in a claim, before any of them is copied."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.transfer.tree import Found
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.left_out import MOST_EXAMPLES

_LINKS = "Copy the directory that holds both, or say `links: skip` to leave links out"


@dataclass(frozen=True)
class Survey:
    """Counts what is to be copied in the totals of the progress, and what is left out, and checks all names."""

    check: KeyCheck
    progress: Progress
    stop: Stop
    holds_folders: bool
    """True if the destination can hold a folder with nothing in it."""

    def of(self, walk: Iterable[Found]) -> Iterator[Found]:
        """Yield the files and folders to copy. When all have been taken, raise AttemptError (5) if a name is refused.

        Nothing must be copied before that.
        """
        problems, count = list[str](), 0
        for each in walk:
            self.stop.check()
            if each.problem:
                count += 1
                problems += [f"{each.key!r} {each.problem}"] if count <= MOST_EXAMPLES else []
            elif self._is_copied(each) and self.check.look(each.key):
                if each.is_file:
                    self.progress.files_total += 1
                    self.progress.bytes_total += each.size
                yield each
        if self.check.count:
            raise self.check.error("Nothing was copied")
        if count:
            message = f"{count} links cannot be followed: {'; '.join(problems)}. {_LINKS}. Nothing was copied"
            raise AttemptError(ExitCode.CONFLICT, "Links", message)

    def _is_copied(self, found: Found) -> bool:
        """Return whether a file or folder is to be copied. What is not is counted."""
        reason = found.left_out
        if found.is_folder and not self.holds_folders:
            if not found.is_empty:
                return False
            reason = "emptyFolder"
        # What is in an excluded folder counts, and not the folder.
        if reason and not (reason == "excluded" and found.key.endswith("/")):
            self.progress.leave_out(reason, found.key)
        return reason is None
