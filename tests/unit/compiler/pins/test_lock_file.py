"""The lock file is written in one form, and what people wrote into it stays."""

import json
import re

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.pins import lock_file
from stowplan.compiler.pins.lock_file import with_entries
from stowplan.compiler.yaml import reader
from stowplan.library.dialects.reading.floating import Section
from stowplan.schema.lock import GitPin, ImagePin, ListingPin, Lock, Pin
from tests.repositories import REPOSITORY

A, B = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
IMAGES: dict[str, Pin] = {
    "ghcr.io/acme/train:1.9": ImagePin(digest=A, platforms=["linux/amd64", "linux/arm64"]),
    "busybox:1": ImagePin(digest=B),
}
COMMIT = GitPin(commit="c" * 40, subject="Fix: the #1 bug", date="2026-11-20T09:30:00Z")
COMMENTED = f"""\
# Ours.
apiVersion: stowplan.dev/v1alpha1
kind: Lock

# Of the platform team.
images:
  # Small.
  busybox:1:  # from Docker Hub
    digest: {B}  # checked
  # Large.
  ghcr.io/acme/train:1.9:
    digest: {A}
# The end.
"""


def lock(text: str) -> Lock:
    documents, diagnostics = reader.read(text, "stowplan.lock")
    report = Report()
    found = lock_file.read(documents[0], report)
    assert [*diagnostics, *report.diagnostics] == []
    assert found is not None
    return found


def written(text: str, entries: dict[Section, dict[str, Pin]]) -> str:
    found = with_entries(text, entries)
    assert found is not None
    return found


def test_entries_are_sorted_and_read_back_as_they_were() -> None:
    listing = ListingPin(listing=A, objects=3, size=4096)
    text = written(
        "", {Section.S3: {"s3://a/": listing}, Section.IMAGES: IMAGES, Section.GIT: {"https://a/b#x": COMMIT}}
    )
    assert text.index("images:") < text.index("git:") < text.index("s3:")
    assert text.index("busybox:1:") < text.index("ghcr.io")
    found = lock(text)
    assert (found.images, found.git, found.s3) == (IMAGES, {"https://a/b#x": COMMIT}, {"s3://a/": listing})


def test_the_same_entries_leave_the_file_as_it_is() -> None:
    text = written("", {Section.IMAGES: IMAGES, Section.GIT: {"https://a/b#x": COMMIT}})
    assert (
        written(text, {Section.GIT: {"https://a/b#x": COMMIT}, Section.IMAGES: dict(reversed(IMAGES.items()))}) == text
    )


def test_comments_stay_with_their_entries_when_others_come_between() -> None:
    own: dict[str, Pin] = {"busybox:1": ImagePin(digest=A), "ghcr.io/acme/train:1.9": ImagePin(digest=A)}
    found = written(COMMENTED, {Section.IMAGES: {**own, "busybox:2": ImagePin(digest=B)}})
    new = f"  busybox:2:\n    digest: {B}\n  # Large.\n"
    assert found == COMMENTED.replace(f"{B}  # checked", f"{A}  # checked").replace("  # Large.\n", new)


def test_an_entry_takes_its_comments_with_it() -> None:
    found = written(COMMENTED, {Section.IMAGES: {"ghcr.io/acme/train:1.9": ImagePin(digest=A)}})
    assert "busybox" not in found
    assert "Small" not in found
    assert "checked" not in found
    assert found.endswith("  # Large.\n  ghcr.io/acme/train:1.9:\n    digest: " + A + "\n# The end.\n")


def test_another_platform_file_is_named_in_the_header() -> None:
    found = with_entries("", {}, "gpu.yaml")
    assert found is not None
    assert "`stowplan pin --platform gpu.yaml`" in found


@pytest.mark.parametrize("text", ["images: [", "kind: Pod\n", "- a\n", "text"])
def test_what_is_no_lock_file_is_not_overwritten(text: str) -> None:
    assert with_entries(text, {}) is None


def test_the_manager_of_the_documentation_finds_the_digest_of_each_image() -> None:
    page = (REPOSITORY / "docs/pages/guides/pins.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    (pattern,) = json.loads(block)["customManagers"][0]["matchStrings"]
    found = re.findall(pattern.replace("(?<", "(?P<"), written("", {Section.IMAGES: IMAGES}))
    assert found == [("busybox", "1", B), ("ghcr.io/acme/train", "1.9", A)]


def test_the_lock_file_of_the_documentation_is_one_as_it_is_written() -> None:
    page = (REPOSITORY / "docs/pages/guides/pins.md").read_text(encoding="utf-8")
    text = re.findall(r"^```yaml\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)[0]
    found = lock(text)
    assert text == written(text, {each: getattr(found, each) for each in Section})
