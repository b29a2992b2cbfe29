"""The notes of a release: there are some only if tag, version and changelog agree."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repositories import REPOSITORY

CHANGELOG = """\
# Changelog

## 1.2.0 - 2026-11-30

### Added

- A command, see [its page](docs/pages/pins.md#update), with a sentence
  that goes on.
- Another one.

A paragraph
of two lines, and a [link](https://example.com/a).

## 1.1.0 - 2026-01-01

- Old.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of version 1.2.0."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(REPOSITORY / ".ci/release_notes.py", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "stowplan"\nversion = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    return tmp_path


def notes(root: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, root / ".ci/release_notes.py", *arguments]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)


def test_notes_are_the_newest_section_with_one_line_for_each_paragraph(root: Path) -> None:
    done = notes(root, "v1.2.0", "--source", "https://git.example.com/stowplan/blob/v1.2.0/")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "### Added\n\n"
        "- A command, see [its page](https://git.example.com/stowplan/blob/v1.2.0/docs/pages/pins.md#update), "
        "with a sentence that goes on.\n"
        "- Another one.\n\n"
        "A paragraph of two lines, and a [link](https://example.com/a).\n"
    )


def test_notes_end_with_the_images_and_their_digests(root: Path) -> None:
    (root / "digests").mkdir()
    for image, digest in (("git", "sha256:2"), ("cache", "sha256:1")):
        (root / "digests" / image).write_text(f"{digest}\n")
    given = ("--registry", "registry.example.com/stowplan", "--digests", root / "digests")
    assert notes(root, "v1.2.0", *given).stdout.endswith(
        "\n### Images\n\n"
        "- `registry.example.com/stowplan/stowplan-cache@sha256:1`\n"
        "- `registry.example.com/stowplan/stowplan-git@sha256:2`\n"
    )


@pytest.mark.parametrize(
    ("tag", "changelog", "said"),
    [
        ("v1.3.0", CHANGELOG, "The tag is v1.3.0, but `version` in pyproject.toml is 1.2.0."),
        ("1.2.0", CHANGELOG, "The tag '1.2.0' is no version: it has the form v1.2.3."),
        ("v1.2", CHANGELOG, "The tag 'v1.2' is no version: it has the form v1.2.3."),
        ("v1.2.0; x", CHANGELOG, "The tag 'v1.2.0; x' is no version: it has the form v1.2.3."),
        (
            "v1.2.0",
            CHANGELOG.replace("2026-11-30", "unreleased"),
            'The newest section of CHANGELOG.md is "1.2.0 - unreleased", and must be "1.2.0 - <year>-<month>-<day>".',
        ),
        (
            "v1.2.0",
            CHANGELOG.replace("1.2.0 -", "1.20 -"),
            'The newest section of CHANGELOG.md is "1.20 - 2026-11-30", and must be "1.2.0 - <year>-<month>-<day>".',
        ),
        ("v1.2.0", "# Changelog\n", "CHANGELOG.md has no section."),
        ("v1.2.0", "## 1.2.0 - 2026-11-30\n\n## 1.1.0\n", "The section 1.2.0 of CHANGELOG.md is empty."),
    ],
)
def test_what_disagrees_is_said_in_one_line(root: Path, tag: str, changelog: str, said: str) -> None:
    (root / "CHANGELOG.md").write_text(changelog)
    done = notes(root, tag)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{said}\n")


def test_the_next_release_of_this_repository_lacks_its_date_and_its_version_alone(tmp_path: Path) -> None:
    """So the changelog has the form that the notes need, at any time before a release."""
    shutil.copytree(REPOSITORY / ".ci", tmp_path / ".ci")
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    coming = text.partition("\n## ")[2].partition(" - ")[0]
    (tmp_path / "CHANGELOG.md").write_text(text.replace(f"## {coming} - unreleased", f"## {coming} - 2026-12-01", 1))
    (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{coming}"\n')
    done = notes(tmp_path, f"v{coming}", "--source", "https://git.example.com")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("###")
