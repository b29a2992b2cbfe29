"""What people see of pins that moved."""

from typing import Any

from stowplan.compiler.pins.pin_changes import PinChange, pin_changes, records
from stowplan.schema.lock import Lock

A, B = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"


def lock(**sections: Any) -> Lock:
    return Lock.model_validate({"apiVersion": "stowplan.dev/v1alpha1", "kind": "Lock", **sections})


def words(found: tuple[PinChange, ...]) -> list[tuple[str, ...]]:
    return [(each.what, each.key, each.revisions, each.about) for each in found]


def test_pins_are_added_moved_and_removed() -> None:
    before = lock(images={"a:1": {"digest": A}, "b:1": {"digest": A}}, git={"u#main": {"commit": "c" * 40}})
    commit = {"commit": "d" * 40, "subject": "Fix", "date": "2026-11-20T09:30:00Z"}
    after = lock(
        images={"a:1": {"digest": B, "platforms": ["linux/amd64"]}, "c:1": {"digest": B}}, git={"u#main": commit}
    )
    assert words(pin_changes(before, after)) == [
        ("moved", "a:1", f"{'a' * 12} → {'b' * 12}", "linux/amd64"),
        ("removed", "b:1", "a" * 12, ""),
        ("added", "c:1", "b" * 12, ""),
        ("moved", "u#main", f"{'c' * 12} → {'d' * 12}", "Fix, 2026-11-20"),
    ]


def test_other_words_about_the_same_revision_are_no_move() -> None:
    before = lock(s3={"s3://a/": {"listing": A}}, huggingface={"models/a@HEAD": {"commit": "c" * 40}})
    after = lock(
        s3={"s3://a/": {"listing": A, "objects": 1}},
        huggingface={"models/a@HEAD": {"commit": "c" * 40, "date": "2026-11-20T09:30:00Z"}},
    )
    assert pin_changes(before, after) == ()


def test_no_lock_file_has_no_pins() -> None:
    after = lock(s3={"s3://a/": {"listing": A, "objects": 2, "size": 4096}})
    assert words(pin_changes(None, after)) == [("added", "s3://a/", "a" * 12, "2 objects, 4,096 bytes")]
    assert pin_changes(None, None) == ()


def test_programs_get_whole_entries() -> None:
    (found,) = records(pin_changes(lock(images={"a:1": {"digest": A}}), lock()))
    assert found == {"section": "images", "key": "a:1", "change": "removed", "before": {"digest": A}}
