"""The inventory: it reads back what it wrote; unreadable content is reported and raises nothing."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.compiler.output import inventory, inventory_files, paths
from stowplan.compiler.output import inventory_lines as entries
from stowplan.compiler.output.inventory import FORMAT, Inventory
from stowplan.compiler.output.inventory_files import OLD
from stowplan.compiler.output.inventory_lines import Entry
from stowplan.compiler.output.render import entry_of, render
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import Severity
from stowplan.schema.meta import ObjectId, SpecId
from tests.unit.outputs import output


def as_read(entry: Entry) -> Entry:
    """Return an entry as it is read back from the line that `to_line` returns."""
    return entry._replace(line=entries.to_line(entry))


ENTRY = as_read(
    Entry(
        path="ml/sampleset-imagenet/job-imagenet-sync.yaml",
        id=ObjectId("batch", "Job", "ml", "imagenet-sync-1a2b"),
        sha256="0" * 64,
        size=12,
        spec=SpecId("SampleSet", "ml", "imagenet"),
        spec_digest="d1",
        wave=20,
        run=True,
        externals=(ExternalReference("Secret", "ml", "imagenet", ("name", "metaurl")),),
    )
)
GLOBAL = as_read(Entry("crds/crd-x.yaml", ObjectId("", "Namespace", "", "x"), "1" * 64, 3, None, "", 0, run=False))
LINES = inventory.of_lines(map(entries.to_line, (GLOBAL, ENTRY)))


def read(tmp_path: Path, content: bytes) -> tuple[Inventory, list[tuple[str, Severity, str]]]:
    (tmp_path / OLD).write_bytes(content)
    found, problems = inventory.read(tmp_path)
    return found, [(problem.code, problem.severity, str(problem.location)) for problem in problems]


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    assert read(tmp_path, LINES) == (Inventory((GLOBAL, ENTRY)), [])


def test_each_line_is_one_object_with_sorted_keys_after_the_format() -> None:
    first, *entries = LINES.decode().splitlines()
    assert first == '{"format": "stowplan.dev/inventory/v1"}'
    for line in entries:
        assert line == json.dumps(json.loads(line), sort_keys=True)
    assert json.loads(entries[1]) == {
        "path": "ml/sampleset-imagenet/job-imagenet-sync.yaml",
        "id": {"group": "batch", "kind": "Job", "namespace": "ml", "name": "imagenet-sync-1a2b"},
        "sha256": "0" * 64,
        "size": 12,
        "spec": {"kind": "SampleSet", "namespace": "ml", "name": "imagenet"},
        "spec_digest": "d1",
        "wave": 20,
        "run": True,
        "externals": [{"kind": "Secret", "namespace": "ml", "name": "imagenet", "keys": ["name", "metaurl"]}],
    }


def test_an_entry_has_the_digest_and_size_of_the_whole_file() -> None:
    each = output("ml/a.yaml", run=True)
    content = render(each)
    found = entry_of(each, content)
    assert (found.size, found.run, found.wave, found.spec) == (len(content), True, 0, each.spec)
    assert entry_of(each, content + b"\n").sha256 != found.sha256


@pytest.mark.parametrize("name", ["", "nowhere", "file/below"])
def test_no_folder_or_no_file_is_an_empty_inventory(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert inventory.read(tmp_path / name) == (Inventory(), [])


def test_a_line_that_cannot_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    found, problems = read(tmp_path, LINES + b"garbage\n")
    assert found == Inventory((GLOBAL, ENTRY), complete=False)
    assert problems == [("SP511", Severity.ERROR, f"{tmp_path.name}/{OLD}:4:1")]


def test_a_badly_merged_inventory_keeps_only_the_entries_without_conflict(tmp_path: Path) -> None:
    format_line, first, second = LINES.splitlines(keepends=True)
    other = second.replace(b'"d1"', b'"d2"')
    merged = b"".join((format_line, first, b"<<<<<<< HEAD\n", second, b"=======\n", other, b">>>>>>> theirs\n"))
    found, problems = read(tmp_path, merged)
    assert found == Inventory((GLOBAL, ENTRY), complete=False)
    assert [code for code, _, _ in problems] == ["SP511"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x.yaml",
        "a/../../x.yaml",
        "a/./b",
        "a//b",
        "",
        ".",
        ".git/config",
        "a/.ssh/b",
        "a\\b",
        "a\u0000",
    ],
)
def test_paths_that_lead_elsewhere_are_not_read(tmp_path: Path, path: str) -> None:
    record = json.loads(LINES.splitlines()[1]) | {"path": path}
    found, problems = read(tmp_path, json.dumps({"format": FORMAT}).encode() + b"\n" + json.dumps(record).encode())
    assert found == Inventory(complete=False)
    assert [code for code, _, _ in problems] == ["SP511"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("size", "12"), ("run", 1), ("wave", 1.5), ("id", "Job"), ("spec", []), ("externals", {}), ("path", None)],
)
def test_an_entry_of_other_types_is_not_read(tmp_path: Path, key: str, value: object) -> None:
    record = json.loads(LINES.splitlines()[1]) | {key: value}
    found, _ = read(tmp_path, LINES.splitlines()[0] + b"\n" + json.dumps(record).encode())
    assert found == Inventory(complete=False)


def test_an_inventory_of_a_newer_format_is_an_error(tmp_path: Path) -> None:
    found, problems = read(tmp_path, LINES.replace(b"inventory/v1", b"inventory/v2"))
    assert found == Inventory(complete=False)
    assert [(code, severity) for code, severity, _ in problems] == [("SP511", Severity.ERROR)]


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"\xff\xfe", b"[" * 100_000, b'{"format": 1}\n', b"null"])
def test_anything_else_is_an_error(tmp_path: Path, content: bytes) -> None:
    found, problems = read(tmp_path, content)
    assert found == Inventory(complete=False)
    assert [(code, severity) for code, severity, _ in problems] == [("SP511", Severity.ERROR)]


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b'{"path": "\xff"}', b"1" * 5000, b'{"size": 1e999}', b"{" * 5000, b"\x00", b"NaN"]
)
def test_no_line_raises(tmp_path: Path, line: bytes) -> None:
    found, _ = read(tmp_path, LINES + line + b"\n")
    assert found == Inventory((GLOBAL, ENTRY), complete=False)


@given(st.binary() | st.binary().map(lambda tail: LINES + tail))
def test_no_content_raises(content: bytes) -> None:
    inventory.parse({OLD: content}, Path("out"))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(['"', "\\", ", ", "}", "]", "Ä"])
NAMED = st.builds(SpecId, TEXT, TEXT, TEXT)
REFERENCE = st.builds(ExternalReference, TEXT, TEXT, TEXT, st.lists(TEXT, max_size=3).map(tuple))
INT64 = st.integers(-(2**63), 2**63 - 1)
ENTRIES = st.builds(
    Entry,
    path=TEXT.filter(paths.safe),
    id=st.builds(ObjectId, TEXT, TEXT, TEXT, TEXT),
    sha256=TEXT,
    size=INT64,
    spec=st.none() | NAMED,
    spec_digest=TEXT,
    wave=INT64,
    run=st.booleans(),
    externals=st.lists(REFERENCE, max_size=3).map(tuple),
)


@given(ENTRIES)
def test_any_entry_is_a_line_of_json_with_sorted_keys_and_is_read_back(entry: Entry) -> None:
    line = entries.to_line(entry)
    record = entry._asdict() | {
        "id": entry.id._asdict(),
        "spec": entry.spec._asdict() if entry.spec else None,
        "externals": [each._asdict() for each in entry.externals],
    }
    del record["line"]
    if not entry.compiled:
        del record["compiled"]
    assert line == json.dumps(record, sort_keys=True)
    assert list(entries.from_lines([line.encode()])) == [(1, as_read(entry))]


@given(ENTRIES, st.sampled_from([None, " ", "more"]))
def test_an_entry_that_others_wrote_is_read_by_its_keys(entry: Entry, how: str | None) -> None:
    record = json.loads(entries.to_line(entry))
    line = json.dumps(record | {"more": [1]} if how == "more" else record, indent=1 if how == " " else None)
    line = line.replace("\n", " ")
    assert list(entries.from_lines([line.encode()])) == [(1, entry._replace(line=line))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"size": 12', b'"size": 012'),
        (b'"size": 12', b'"size": 1_2'),
        (b'"size": 12', b'"size": 12.0'),
        (b'"size": 12', b'"size": true'),
        (b'"size": 12', b'"size": 100000000000000000000'),
        (b'"wave": 20', b'"wave": true'),
        (b'"run": true', b'"run": True'),
        (b'"spec": {', b'"spec": {}, "x": {'),
        (b'"keys": ["name", ', b'"keys": ["name", 1, '),
        (b'"keys": ["name", ', b'"keys": [["name"], '),
        (b'"keys": [', b'"keys": "name", "x": ['),
        (b'{"keys": [', b'"Secret", {"keys": ['),
        (b'"kind": "Job", ', b""),
        (b'"kind": "Job"', b'"kind": "J\nb"'),
        (b'"kind": "Job"', b'"kind": "J\xffb"'),
        (b"1a2b", b'1a"2b'),
        (b"1a2b", b"1a\\2b"),
        (b"}", b"}}"),
    ],
)
def test_an_entry_that_was_edited_into_none_is_not_read(old: bytes, new: bytes) -> None:
    line = entries.to_line(ENTRY).encode()
    assert line.replace(old, new) != line
    assert list(entries.from_lines([line + b"\n", b"\n", line.replace(old, new)])) == [(1, ENTRY), (3, None)]


def test_a_change_of_the_inventory_since_it_was_read_is_detected(tmp_path: Path) -> None:
    read(tmp_path, LINES)
    found, _ = inventory.read(tmp_path)
    assert inventory.is_still(found, tmp_path)
    assert not inventory.is_still(Inventory(), tmp_path)
    (tmp_path / OLD).write_bytes(LINES + b"\n")
    assert inventory.is_still(found, tmp_path)
    (tmp_path / OLD).write_bytes(LINES[:-1].replace(b'"d1"', b'"d2"'))
    assert not inventory.is_still(found, tmp_path)
    (tmp_path / OLD).unlink()
    assert not inventory.is_still(found, tmp_path)
    assert inventory.is_still(Inventory(), tmp_path)


def test_an_inventory_that_is_a_link_or_a_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(LINES)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / OLD).symlink_to(tmp_path / "real")
    (tmp_path / "folder" / OLD).mkdir(parents=True)
    for out in (tmp_path / "link", tmp_path / "folder"):
        found, problems = inventory.read(out)
        assert found == Inventory(complete=False)
        assert [problem.code for problem in problems] == ["SP511"]


def test_only_inventories_and_empty_files_may_be_replaced() -> None:
    assert all(map(inventory.is_ours, (LINES, LINES.replace(b"/v1", b"/v2"), b"")))
    assert not any(map(inventory.is_ours, (b"{}\n", b"mine", b"{}\n" + LINES)))


def test_entries_are_read_from_all_files_wherever_they_are(tmp_path: Path) -> None:
    """People and merges move lines; what counts is the object and its digest."""
    for path, entry in (("_inventory/a/b/c.jsonl", GLOBAL), ("_inventory/x.jsonl", ENTRY)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(inventory.of_lines([entries.to_line(entry)]))
    (tmp_path / "_inventory/notes.txt").write_text("mine")
    assert inventory.read(tmp_path) == (Inventory((GLOBAL, ENTRY)), [])


def test_different_entries_of_a_path_in_two_files_are_an_error_at_the_second_one(tmp_path: Path) -> None:
    (tmp_path / "_inventory").mkdir()
    (tmp_path / "_inventory/a.jsonl").write_bytes(LINES)
    (tmp_path / "_inventory/b.jsonl").write_bytes(LINES.replace(b'"d1"', b'"d2"'))
    found, problems = inventory.read(tmp_path)
    assert found == Inventory((GLOBAL, ENTRY), complete=False)
    assert [str(each.location) for each in problems] == [f"{tmp_path.name}/_inventory/b.jsonl:3:1"]


@pytest.mark.parametrize(
    ("there", "old"),
    [(b"old", OLD), (b"new", OLD), (b"other", OLD), (b"old", "_inventory/b"), (b"new", "_inventory/b")],
)
def test_of_two_entries_of_a_path_the_one_that_agrees_with_the_file_counts(
    tmp_path: Path, there: bytes, old: str
) -> None:
    known = {name: as_read(ENTRY._replace(sha256=sha256(name).hexdigest())) for name in (b"old", b"new")}
    for path, name in ((f"{old.removesuffix('.jsonl')}.jsonl", b"old"), ("_inventory/a.jsonl", b"new")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(inventory.of_lines([entries.to_line(known[name])]))
    (tmp_path / ENTRY.path).parent.mkdir(parents=True)
    (tmp_path / ENTRY.path).write_bytes(there)
    assert inventory.read(tmp_path) == (Inventory((known[b"old" if there == b"old" else b"new"],)), [])


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.jsonl").write_bytes(LINES)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/_inventory").symlink_to(tmp_path / "real")
    assert inventory.read(tmp_path / "out") == (Inventory(), [])


def test_each_spec_has_a_file_and_so_has_each_folder_or_file_of_no_spec() -> None:
    given = [
        ("ml/dataset-a/job-a.yaml", SpecId("Dataset", "ml", "a"), "ml/dataset-a"),
        ("_cluster/persistentvolume-ml.a.yaml", SpecId("Dataset", "ml", "a"), "ml/dataset-a"),
        ("ml/Dataset-A/job-a.yaml", SpecId("Dataset", "ml", "A"), "ml/dataset-a"),
        ("ml/reporter/role-x.yaml", None, "ml/reporter"),
        ("argocd/root.yaml", None, "argocd/root"),
        ("crds/customresourcedefinition-a.b.c.yaml", None, "crds/customresourcedefinition-a.b.c"),
        ("argocd-cm.patch.txt", None, "argocd-cm.patch.txt"),
    ]
    assert [inventory_files.home(path, spec) for path, spec, _ in given] == [
        f"_inventory/{own}.jsonl" for _, _, own in given
    ]
