"""Whether the later tiers allow a release: `python .ci/results.py` says why not.

Each section of `tests/nightly/RESULT.md` and `tests/on_request/RESULT.md` must have passed, on a commit from which only
such results have changed since.
"""

import re
import subprocess
import sys
from pathlib import Path

FILES = {"tests/nightly/RESULT.md": {"all"}, "tests/on_request/RESULT.md": {"kills", "planted_bugs", "races", "random"}}
"""The files of results, and the sections that each must have."""


def refusals(root: Path) -> list[str]:
    """Return why there is no release, a line for each reason."""
    found: list[str] = []
    for name, parts in FILES.items():
        text = (root / name).read_text(encoding="utf-8") if (root / name).exists() else ""
        sections = {each.partition("\n")[0].strip(): each for each in text.split("\n## ")[1:]}
        found += [f"{name}: no result of {part!r}" for part in sorted(parts - sections.keys())]
        found += [
            f"{name}: {part}: {reason}"
            for part in sorted(parts & sections.keys())
            if (reason := _refusal(root, sections[part]))
        ]
    return found


def _refusal(root: Path, section: str) -> str:
    if "\n- Passed\n" not in section:
        return "it has not passed"
    commit = re.search(r"^- Commit: ([0-9a-f]{40})$", section, re.MULTILINE)
    if not commit:
        return "it names no commit, or was run with changes that are not committed"
    # No setting of a submodule hides it, and a file that became a result is a file that is gone.
    options = ["-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none"]
    command = ["git", "-C", root, "--no-replace-objects", "diff-tree", *options, commit[1], "HEAD"]
    changed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if changed.returncode:
        return f"its commit {commit[1]} is not in this repository"
    others = [line for line in changed.stdout.split("\0") if line and line not in FILES]
    return f"{len(others)} files have changed since, such as {others[0]}" if others else ""


def main() -> int:
    """Print the reasons; 1 if there is one."""
    found = refusals(Path())
    sys.stdout.writelines(f"{line}\n" for line in found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
