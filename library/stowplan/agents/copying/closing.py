"""Sentence with which a copy ends. It claims no more than the counts say."""

from stowplan.agents.attempt.progress import Progress
from stowplan.schema.agents.left_out import Reason

_WORDS: dict[Reason, str] = {
    "device": "devices, sockets or pipes",
    "emptyFolder": "empty folders",
    "excluded": "what the patterns exclude",
    "link": "links",
    "pointer": "pointers of Git LFS",
    "reserved": "names that the destination refuses",
    "submodule": "submodules",
}


def closing(holder: str, progress: Progress) -> str:
    """Return the sentence, without its final full stop, about what `holder`, such as "The claim", holds after a copy.

    It also says what was left out, what was deleted, and of how many files nothing proves the content. Call it only
    after everything was copied: it takes every listed file for present.
    """
    left = [f"{_WORDS[reason]} ({each.count})" for reason, each in sorted(progress.left_out.items())]
    whole = "every file of the source" if not left else f"{progress.files_total} files of the source"
    found = [f"{holder} holds {whole}"]
    if left:
        found.append(f"left out: {', '.join(left)}")
    found += changes(progress)
    if progress.files_unverified:
        found.append(f"nothing proves the content of {progress.files_unverified} of them")
    return "; ".join(found)


def changes(progress: Progress) -> list[str]:
    """Return phrases with the number of deleted files, and of files that the source does not list; empty if none."""
    found = []
    if progress.files_deleted:
        found.append(f"{progress.files_deleted} files that the source no longer has were deleted")
    if progress.files_unknown:
        found.append(f"{progress.files_unknown} other files are there, which the source does not list")
    return found
