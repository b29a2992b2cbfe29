"""The fenced blocks of the documentation's prose, in the order of a page."""

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.repositories import REPOSITORY

PAGES = REPOSITORY / "docs" / "pages"
FOLDERS = ("tutorials", "guides", "explanation")
_FENCED = re.compile(r"^( *)```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(stowplan [^`…]+)`")
FRAGMENT = "fragment"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the path in its title or an empty one, and its text."""

    language: str
    title: str
    text: str

    @property
    def is_file(self) -> bool:
        return bool(self.title) and self.title != FRAGMENT

    @property
    def session(self) -> list[tuple[str, str]]:
        """The commands of a `console` block, each with what is shown of its output."""
        steps: list[tuple[str, str]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], ""))
            elif steps and steps[-1][0].endswith("\\"):
                steps[-1] = (f"{steps[-1][0]}\n{line}", "")
            elif steps:
                steps[-1] = (steps[-1][0], f"{steps[-1][1]}{line}\n")
        return steps

    @property
    def commands(self) -> list[str]:
        """The commands of a `console` or `bash` block, without their output."""
        if self.language == "console":
            return [command for command, _ in self.session]
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def pages() -> list[Path]:
    """The pages of prose."""
    return sorted(path for folder in FOLDERS for path in (PAGES / folder).glob("*.md"))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    found = _FENCED.findall(page.read_text())
    return [Block(language, title, textwrap.dedent(text)) for _, language, title, text in found]


def inline(page: Path) -> list[str]:
    """The command lines of `stowplan` in the sentences of a page."""
    return [" ".join(found.split()) for found in _INLINE.findall(_FENCED.sub("", page.read_text()))]


def words(command: str) -> list[str]:
    """The words of one command, without comments, variables before it, pipes and redirections."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    found: list[str] = []
    for word in lexer:
        if word[0] in "|&;<>":
            break
        if found or not re.fullmatch(r"[A-Za-z_]\w*=.*", word):
            found.append(word)
    return found
