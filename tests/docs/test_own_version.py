"""The version of Stowplan is one: in the package, the changelog, and the tags of its images in examples and pages."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from packaging.version import Version

from tests.repositories import EXAMPLES, REPOSITORY
from tests.upgrade.test_upgrade import VERSIONS

OWN = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
TAG = re.compile(r"\btag: \"([^\"]+)\"|\bstowplan-(?:cache|control|git|transfer|\$agent):([\w.]+)")
LATER = ("examples/environments/stowplan.yaml", "0.2.0.dev1")
"""The example is about an environment that tries later images."""


def files() -> Iterator[Path]:
    for folder in EXAMPLES.values():
        yield from (file for name in ("stowplan.yaml", "stowplan.lock") if (file := folder / name).exists())
    yield from (REPOSITORY / "docs/pages").rglob("*.md")
    yield REPOSITORY / "library/images/README.md"


def test_it_is_that_of_the_lock_file_and_of_what_is_installed() -> None:
    packages = tomllib.loads((REPOSITORY / "uv.lock").read_text())["package"]
    assert [each["version"] for each in packages if each["name"] == "stowplan"] == [OWN]
    assert version("stowplan") == OWN, "run `make .venv/ready`"


def test_it_is_in_development_until_the_changelog_has_its_date() -> None:
    heading = re.search(r"^## (\S+) - (\S+)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heading
    assert Version(OWN).base_version == heading[1]
    assert Version(OWN).is_devrelease == (heading[2] == "unreleased")


def test_images_have_it_as_tag() -> None:
    found = {
        (str(file.relative_to(REPOSITORY)), match[1] or match[2])
        for file in files()
        for match in TAG.finditer(file.read_text())
    }
    assert {file for file, _ in found} >= {"library/images/README.md", "examples/pins/stowplan.lock"}
    assert {(file, tag) for file, tag in found if tag != OWN} == {LATER}


def test_what_upgrades_are_tested_from_is_released_or_this_version() -> None:
    assert all(name == OWN or not Version(name).is_prerelease for name in VERSIONS)
