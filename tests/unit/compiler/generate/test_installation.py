"""The source from which CI installs Stowplan, derived by `stowplan init` from the present installation."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler.generate.starter.installation import incomplete, requirements_of

COMMIT, SHA256 = "1" * 40, "2" * 64
WHEEL = "https://files.example.com/stowplan-0.1.0-py3-none-any.whl"


def of(origin: Any) -> str:
    return requirements_of("0.1.0", origin if origin is None else json.dumps(origin))


def archive(**info: Any) -> dict[str, Any]:
    return {"url": WHEEL, "archive_info": info}


def git(url: str, commit: str = COMMIT, **more: str) -> dict[str, Any]:
    return {"url": url, "vcs_info": {"vcs": "git", "commit_id": commit, "requested_revision": "main"}, **more}


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (git("https://git.example.com/stowplan"), f"stowplan @ git+https://git.example.com/stowplan@{COMMIT}"),
        (git("ssh://git@example.com:22/a/b.git"), f"stowplan @ git+ssh://git@example.com:22/a/b.git@{COMMIT}"),
        (
            git("https://git.example.com/all.git", subdirectory="tools/stowplan"),
            f"stowplan @ git+https://git.example.com/all.git@{COMMIT}#subdirectory=tools/stowplan",
        ),
        (archive(hashes={"sha256": SHA256}), f"stowplan @ {WHEEL} --hash=sha256:{SHA256}"),
        (archive(hash=f"sha256={SHA256}"), f"stowplan @ {WHEEL} --hash=sha256:{SHA256}"),
    ],
)
def test_reachable_sources_become_one_requirement(origin: Any, line: str) -> None:
    text = of(origin)
    assert [each for each in text.splitlines() if not each.startswith("#")] == [line]
    assert not incomplete(text)


@pytest.mark.parametrize(
    "origin", [None, archive(), archive(hashes={}), archive(hashes={"md5": "3"}), archive(hash="md5=3")]
)
def test_unknown_hashes_are_for_a_person_to_write(origin: Any) -> None:
    text = of(origin)
    assert incomplete(text)
    assert "pip hash" in text
    assert ('"stowplan==0.1.0"' in text) == (origin is None)


@pytest.mark.parametrize(
    "origin",
    [
        {"url": "file:///home/me/stowplan", "dir_info": {"editable": True}},
        {"url": "file:///home/me/stowplan", "dir_info": {}},
        {"url": "file:///home/me/stowplan-0.1.0-py3-none-any.whl", "archive_info": {"hashes": {"sha256": SHA256}}},
        git("file:///home/me/stowplan"),
        git("http://git.example.com/stowplan"),
        git("https://git.example.com/stowplan", commit="main"),
        git("https://me:hunter2@git.example.com/stowplan"),
        git("https://hunter2@git.example.com/stowplan"),
        git("https://git.example.com/stowplan?token=hunter2"),
        git("https://git.example.com/stowplan\n--index-url=https://evil.example.com"),
        git("https://git.example.com/${HOME}"),
        {"url": "https://svn.example.com/stowplan", "vcs_info": {"vcs": "svn", "commit_id": "7"}},
        {"url": "http://files.example.com/a.whl", "archive_info": {"hashes": {"sha256": SHA256}}},
        {"url": 1},
        [],
        "text",
    ],
)
def test_sources_that_ci_cannot_use_are_for_a_person_to_write(origin: Any) -> None:
    text = of(origin)
    assert incomplete(text)
    assert "stowplan @ git+https://" in text
    assert not any(word in text for word in ("hunter2", "/home/me", "evil", "stowplan=="))


def test_a_broken_record_is_no_traceback() -> None:
    assert incomplete(requirements_of("0.1.0", "{"))


@pytest.mark.parametrize("origin", [None, {"url": "file:///home/me/stowplan", "dir_info": {}}])
def test_pip_fails_with_the_sentence_before_it_fetches_anything(tmp_path: Path, origin: Any) -> None:
    (tmp_path / "stowplan.txt").write_text(of(origin))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--target", tmp_path, "-r", tmp_path / "stowplan.txt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "CI cannot install Stowplan before " in done.stderr
    assert "Collecting" not in done.stdout
