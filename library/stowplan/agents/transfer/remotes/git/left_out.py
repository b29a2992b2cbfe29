"""What a clone leaves out of its repository: content that other repositories or Git LFS have."""

from stowplan.agents.attempt.progress import Progress
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.left_out import Reason


def tell(progress: Progress, log: Log, *, lfs: bool) -> str:
    """Log what was left out, and return the end of the sentence about the result, from `; ` on; empty if nothing was.

    `lfs` says whether the spec wants the content of Git LFS.
    """
    pointers = (
        "no attribute of the repository gives them to Git LFS, so they stay as they are"
        if lfs
        else "without `lfs` their content is not copied"
    )
    reasons: dict[Reason, tuple[str, str, str]] = {
        "submodule": ("submodule is not fetched", "submodules are not fetched", "`submodules: true` brings them"),
        "pointer": ("file is a pointer of Git LFS", "files are pointers of Git LFS", pointers),
    }
    text = ""
    for reason, (one, several, why) in reasons.items():
        if found := progress.left_out.get(reason):
            names = ", ".join(map(repr, found.examples))
            what = f"{found.count} {one if found.count == 1 else several}"
            log.warning(f"{what}: {why}", reason="LeftOut", count=found.count, names=names)
            text += f"; {what} ({names}{', …' if found.count > len(found.examples) else ''}): {why}"
    return text
