"""The layout page in CONTRIBUTING.md lists exactly the existing folders of each package."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "compiler/stowplan/compiler",
    "library/stowplan/library",
    "library/stowplan/agents",
    "schema/stowplan/schema",
)


def listed_folders(package: str) -> list[str]:
    """Return the folders in the table of a package, in their order."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, heading, section = page.partition(f"\n### `{package}`\n")
    assert heading
    return re.findall(r"(?m)^\| `([^`]+)` \|", re.split(r"(?m)^##", section)[0])


def existing_folders(package: str) -> list[str]:
    """Return the folders of a package, sorted."""
    return sorted(each.name for each in (ROOT / package).iterdir() if each.is_dir() and each.name != "__pycache__")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_layout_page_lists_the_folders_of_a_package_in_order(package: str) -> None:
    assert listed_folders(package) == existing_folders(package)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_listed_folder_has_a_description(package: str) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for folder in listed_folders(package):
        assert re.search(rf"(?m)^\| `{folder}` \| \w.+ \|$", page)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_has_more_than_16_modules(package: str) -> None:
    modules = Counter(each.parent for each in (ROOT / package).rglob("*.py") if each.name != "__init__.py")
    assert {str(folder): count for folder, count in modules.items() if count > 16} == {}
