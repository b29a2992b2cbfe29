"""Commands and sessions of the README and the pages, run as they stand there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.not_run import LOCAL, runnable
from tests.docs.prose import PAGES, Block, blocks, pages, words
from tests.docs.test_texts import BLOCKS, FENCED, README, SPEC

HASH = re.compile(r"-[a-z2-7]{8}\b")
GIT = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
WITH_COMMANDS = [page for page in pages() if page.parent.name != "tutorials" and any(map(runnable, blocks(page)))]
TUTORIALS = pytest.mark.parametrize("page", sorted((PAGES / "tutorials").glob("*.md")), ids=lambda page: page.stem)


def test_session_goes_as_shown(tmp_path: Path) -> None:
    """Each line that is shown is said, in this order; `…` stands for any lines, and hashes may be others."""
    (session,) = [block for block in BLOCKS if block.startswith("$ stowplan init mine\n")]
    said = _bash(tmp_path, _script(session)).stdout
    shown, reported = (HASH.sub("-<hash>", text) for text in (session, said))
    parts = [re.escape(part.strip("\n")) for part in shown.split("…\n")]
    assert re.fullmatch(r"\n(?:.*\n)*".join(parts), reported.rstrip("\n") + "\n" * shown.endswith("…\n")), said


def test_sixty_seconds_end_in_a_page(tmp_path: Path) -> None:
    (block,) = [block for block in FENCED.findall(README) if "stowplan report" in block and "stowplan init" in block]
    _succeed(tmp_path, f"set -e\n{block}")
    page = (tmp_path / "report.html").read_text()
    assert "mnist-train" in page
    assert "completions" in page


def test_commands_of_the_first_spec_end_well(tmp_path: Path) -> None:
    (block,) = [block for block in FENCED.findall(README) if block.startswith("stowplan validate my-repo")]
    (tmp_path / "my-repo/specs").mkdir(parents=True)
    (tmp_path / "my-repo/stowplan.yaml").touch()
    (tmp_path / "my-repo/specs/imagenet.yaml").write_text(SPEC)
    commit = "git init -qb main . && git add -A && git commit -qm Begin && git update-ref refs/remotes/origin/main HEAD"
    _succeed(tmp_path, f"set -e\n(cd my-repo; stowplan synth; {commit})\n{block}")


@TUTORIALS
def test_tutorial_prints_what_is_shown(page: Path, tmp_path: Path) -> None:
    """Files and commands are taken in the order of the page. `…` stands for any lines, and hashes may be others."""
    folder = tmp_path
    for block in blocks(page):
        if block.is_file:
            _write(folder, block)
        for command, shown in block.session if block.language == "console" else []:
            if words(command)[0] in LOCAL:
                folder, said = _run(folder, command, tmp_path / "folder")
                assert _pattern(shown).fullmatch(HASH.sub("-<hash>", said)), f"$ {command}\n{said}"


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_commands_of_a_page_end_well_in_its_repository(page: Path, tmp_path: Path) -> None:
    """Where a page shows no specs, the repository is that of `stowplan init`. `origin/main` is how it was at first."""
    root = tmp_path / "repository"
    shown = [block for block in blocks(page) if block.is_file]
    if not any(block.title.startswith("specs/") for block in shown):
        _succeed(tmp_path, "stowplan init repository")
    for block in reversed(shown):  # the first of two with one path stays
        _write(root, block)
    (root / "stowplan.yaml").touch()
    for command in ("stowplan synth", "git init -qb main", "git add -A", "git commit -qm Begin"):
        _succeed(root, command)
    _succeed(root, "git update-ref refs/remotes/origin/main HEAD")
    for block in blocks(page):
        if block.is_file:
            _write(root, block)
        for command in runnable(block):
            _succeed(root, command.replace("git commit", "git commit --allow-empty"))


def _script(session: str) -> str:
    """The commands of a session, each said before it is run."""
    commands = [line.removeprefix("$ ") for line in session.splitlines() if line.startswith("$ ")]
    return "\n".join(f"printf '%s\\n' {shlex.quote(f'$ {command}')}\n{command}" for command in commands)


def _succeed(folder: Path, command: str) -> None:
    folder.mkdir(exist_ok=True)
    ended = _bash(folder, command)
    assert ended.returncode == 0, f"$ {command}\n{ended.stdout}"


def _write(folder: Path, block: Block) -> None:
    path = folder / block.title
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text)


def _run(folder: Path, command: str, end: Path) -> tuple[Path, str]:
    """Return the folder that the shell ends in, and what the command prints."""
    ended = _bash(folder, f'{command}\npwd >"$1"', str(end))
    return Path(end.read_text().strip()), ended.stdout


def _bash(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script, "page", *arguments],
        cwd=folder,
        env={**os.environ, **GIT, "PATH": programs, "NO_COLOR": "1", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _pattern(shown: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in HASH.sub("-<hash>", shown).split("…\n")]
    return re.compile(r"(?:.*\n)*".join(parts))
