"""Writes the reference from the code: `python -m docs.reference <folder of pages>`."""

import sys
from pathlib import Path

from docs.reference import agents, codes, commands, constructs, kinds, variables

_INDEX = """# Reference

Everything here is written from the code of this version, so it says what the code does.

- [Kinds](kinds/index.md): every field of the specs and of the platform file `stowplan.yaml`
- [Commands](commands.md): every command and option of `stowplan`
- [Constructs](constructs.md): the kinds as constructs of cdk8s, for programs of your own
- [Agents](agents.md): what agents are told in the cluster, and their exit codes
- [Variables](variables.md): what the processes of a training job find in their environment
- [Diagnostic codes](codes/index.md): every code with a wrong and a right example

`stowplan explain` prints the same texts in the shell.
"""


def pages() -> dict[str, str]:
    """Return the text of each page, by its path below `reference`."""
    return {
        "index.md": _INDEX,
        "agents.md": agents.page(),
        "commands.md": commands.page(),
        "constructs.md": constructs.page(),
        "variables.md": variables.page(),
        **kinds.pages(),
        **codes.pages(),
    }


def write(folder: Path) -> None:
    """Write all pages below `folder`."""
    for path, text in pages().items():
        file = folder / "reference" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
