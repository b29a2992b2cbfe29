"""Loading a repository: files and their order, and diagnostics for hostile or careless trees."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.repository import spec_finder
from stowplan.compiler.repository.layout import MAX_FILE_SIZE, Repository
from stowplan.compiler.repository.load import Checkout

Tree = dict[str, str | bytes]


def write(repo: Path, tree: Tree) -> Path:
    for path, content in tree.items():
        file = repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return repo


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", {"stowplan.yaml": ""})


class Sources(NamedTuple):
    """What was read: the platform file, the other documents, and the text of each file."""

    platform: Document
    documents: tuple[Document, ...]
    texts: Mapping[str, str]


def run(repo: Path) -> tuple[Sources, list[str]]:
    """What was read, and each diagnostic as `code file:line:column message`; see `test_no_specs.py` for two of them."""
    report = Report()
    checkout = Checkout(Repository(repo))
    sources = checkout.sources(Target.whole(checkout.platform), report)
    reported = (d for d in report.diagnostics if d.code not in ("SP115", "SP116"))
    return Sources(sources.platform, sources.documents, checkout.texts), [
        f"{d.code} {d.location} {d.message}" for d in reported
    ]


def files(sources: Sources) -> list[str]:
    return [document.file for document in sources.documents]


# The platform file.


@pytest.mark.parametrize("name", ["stowplan.yaml", "stowplan.yml"])
def test_the_platform_file_is_read_by_either_name(tmp_path: Path, name: str) -> None:
    sources, diagnostics = run(write(tmp_path, {name: "kind: Platform"}))
    assert diagnostics == []
    assert (sources.platform.file, sources.platform.root.data) == (name, {"kind": "Platform"})


@pytest.mark.parametrize("text", ["", "# all defaults\n", "---\n"])
def test_an_empty_platform_file_is_enough(tmp_path: Path, text: str) -> None:
    sources, diagnostics = run(write(tmp_path, {"stowplan.yaml": text}))
    assert (sources.platform.root.data, sources.documents, diagnostics) == ({}, (), [])


def test_a_missing_platform_file_is_reported_with_a_remedy(tmp_path: Path) -> None:
    report = Report()
    checkout = Checkout(Repository(write(tmp_path, {"specs/a.yaml": "kind: A"})))
    sources = checkout.sources(Target.whole(checkout.platform), report)
    assert [each.file for each in sources.documents] == ["specs/a.yaml"]
    assert [(d.code, str(d.location)) for d in report.diagnostics] == [("SP113", "stowplan.yaml:1:1")]
    assert "an empty file is enough" in report.diagnostics[0].hint


def test_a_folder_that_does_not_exist_is_a_repository_without_a_platform_file(tmp_path: Path) -> None:
    assert run(tmp_path / "none")[1] == ["SP113 stowplan.yaml:1:1 There is no stowplan.yaml."]


def test_of_two_platform_files_one_must_go(tmp_path: Path) -> None:
    sources, diagnostics = run(write(tmp_path, {"stowplan.yaml": "a: 1", "stowplan.yml": "a: 2"}))
    assert diagnostics == [
        "SP113 stowplan.yml:1:1 There are two platform files, stowplan.yaml and stowplan.yml; a repository has one."
    ]
    assert sources.platform.root.data == {"a": 1}


def test_a_second_document_in_the_platform_file_is_refused_at_its_place(tmp_path: Path) -> None:
    _, diagnostics = run(write(tmp_path, {"stowplan.yaml": "a: 1\n---\n# empty\n---\nb: 2\n"}))
    assert diagnostics == ["SP113 stowplan.yaml:5:1 The platform file holds one document; this is another."]


def test_a_platform_file_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    sources, diagnostics = run(write(tmp_path, {"stowplan.yaml": "\n- a\n"}))
    assert () in sources.platform.refused
    assert diagnostics == ["SP111 stowplan.yaml:2:1 A document must be a mapping; this one is a list."]


# The specs.


def test_yaml_files_at_any_depth_are_read_in_byte_order_of_their_paths(repo: Path) -> None:
    names = ["b.yaml", "a.yml", "B.yaml", "a/z.yaml", "a-b.yaml", "é.yaml", "z.yaml", "10.yaml", "9.yaml", "a/b/c.yml"]
    write(repo, {f"specs/{name}": "a: 1" for name in names})
    sources, diagnostics = run(repo)
    assert diagnostics == []
    assert files(sources) == [f"specs/{n}" for n in sorted(names, key=lambda n: n.encode())]


def test_a_file_has_all_its_documents_and_its_source(repo: Path) -> None:
    text = "a: 1\r\n---\r\n---\r\nb: 2\r\n"
    sources, _ = run(write(repo, {"specs/a.yaml": text}))
    assert [(d.file, d.index, d.root.data) for d in sources.documents] == [
        ("specs/a.yaml", 0, {"a": 1}),
        ("specs/a.yaml", 2, {"b": 2}),
    ]
    assert sources.texts == {"stowplan.yaml": "", "specs/a.yaml": text}


def test_other_and_hidden_files_and_folders_are_passed_over(repo: Path) -> None:
    ignored = [".a.yaml", ".git/a.yaml", "..data/a.yaml", "README.md", "a.json", "a.yaml~", "yaml", "a.YAML"]
    sources, diagnostics = run(write(repo, {f"specs/{name}": "- broken: [" for name in ignored}))
    assert (sources.documents, diagnostics) == ((), [])


def test_files_outside_specs_are_not_read(repo: Path) -> None:
    sources, diagnostics = run(write(repo, {"other/a.yaml": "- 1", "a.yaml": "- 1", "out/x.yaml": "- 1"}))
    assert (sources.documents, diagnostics) == ((), [])


def test_a_folder_named_like_a_file_is_a_folder(repo: Path) -> None:
    assert files(run(write(repo, {"specs/a.yaml/b.yaml": "a: 1"}))[0]) == ["specs/a.yaml/b.yaml"]


def test_diagnostics_of_all_files_come_together(repo: Path) -> None:
    write(repo, {"specs/b.yaml": "a: [1", "specs/a.yaml": "a: 1\na: 2"})
    write(repo, {"specs/c.yaml": b"\xff", "specs/d.yaml": "a: 1"})
    sources, diagnostics = run(repo)
    assert [line.split()[:2] for line in diagnostics] == [
        ["SP102", "specs/a.yaml:2:1"],
        ["SP101", "specs/b.yaml:1:4"],
        ["SP104", "specs/c.yaml:1:1"],
    ]
    assert files(sources) == ["specs/a.yaml", "specs/d.yaml"]


def test_specs_that_is_a_file_is_refused(repo: Path) -> None:
    assert run(write(repo, {"specs": "a: 1"}))[1] == ["SP112 specs:1:1 This cannot be read: it is not a folder."]


def test_the_working_directory_and_a_relative_path_change_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"specs/a.yaml": "a: 1"})
    absolute = run(repo)
    monkeypatch.chdir(repo)
    assert run(Path()) == absolute


# Encodings.


def test_a_byte_order_mark_of_utf_8_does_not_count_as_a_column(repo: Path) -> None:
    sources, diagnostics = run(write(repo, {"specs/a.yaml": b"\xef\xbb\xbfa: 1\na: 2"}))
    assert diagnostics == ['SP102 specs/a.yaml:2:1 The key "a" is here and at 1:1; a mapping holds each key once.']
    assert sources.texts["specs/a.yaml"] == "a: 1\na: 2"


@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-16-le", b"\xff\xfe", "UTF-16"),
        ("utf-16-be", b"\xfe\xff", "UTF-16"),
        ("utf-32-le", b"\xff\xfe\0\0", "UTF-32"),
        ("utf-32-be", b"\0\0\xfe\xff", "UTF-32"),
        ("utf-16-le", b"", "UTF-16 or UTF-32"),
        ("utf-16-be", b"", "UTF-16 or UTF-32"),
        ("utf-32-be", b"", "UTF-16 or UTF-32"),
    ],
)
def test_a_wide_encoding_is_named(repo: Path, encoding: str, mark: bytes, name: str) -> None:
    _, diagnostics = run(write(repo, {"specs/a.yaml": mark + "a: 1\n".encode(encoding)}))
    assert diagnostics == [f"SP104 specs/a.yaml:1:1 The file is {name}; YAML is read as UTF-8."]


@pytest.mark.parametrize(
    ("content", "place", "byte"),
    [
        ("a: 1\né: ".encode() + b"caf\xe9\n", "2:7", "E9"),
        (b"\xef\xbb\xbfa: \xff", "1:4", "FF"),
        ("\U0001f600\r\n".encode() + b"\xf0\x9f\n", "2:1", "F0"),
        (b"a: \xed\xa0\x80", "1:4", "ED"),
    ],
)
def test_invalid_utf_8_is_reported_at_its_position(repo: Path, content: bytes, place: str, byte: str) -> None:
    sources, diagnostics = run(write(repo, {"specs/a.yaml": content}))
    assert diagnostics == [f"SP104 specs/a.yaml:{place} The byte 0x{byte} is not UTF-8 here."]
    assert "\ufffd" in sources.texts["specs/a.yaml"]


def test_a_nul_is_reported_at_its_position(repo: Path) -> None:
    _, diagnostics = run(write(repo, {"specs/a.yaml": "é: 1\nb: \0"}))
    assert diagnostics == ["SP104 specs/a.yaml:2:4 YAML cannot hold the character U+0000."]


# Limits.


def test_a_file_up_to_the_limit_is_read(repo: Path) -> None:
    head = "a: 1\n#"
    write(repo, {"specs/a.yaml": head + "x" * (MAX_FILE_SIZE - len(head))})
    assert run(repo)[1] == []
    write(repo, {"specs/a.yaml": head + "x" * (MAX_FILE_SIZE - len(head) + 1)})
    assert run(repo)[1] == ["SP105 specs/a.yaml:1:1 The file is larger than 1,048,576 bytes."]


def test_a_sparse_file_of_a_terabyte_costs_nothing(repo: Path) -> None:
    write(repo, {"specs/a.yaml": ""})
    os.truncate(repo / "specs/a.yaml", 1 << 40)
    assert run(repo)[1] == ["SP105 specs/a.yaml:1:1 The file is larger than 1,048,576 bytes."]


def test_too_many_files_are_refused_as_a_whole(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_finder, "MAX_FILES", 3)
    write(repo, {f"specs/{i}.yaml": "a: 1" for i in range(3)})
    assert len(run(repo)[0].documents) == 3
    write(repo, {"specs/x/3.yaml": "a: 1"})
    sources, diagnostics = run(repo)
    assert (sources.documents, sources.texts) == ((), {"stowplan.yaml": ""})
    assert diagnostics == ["SP105 specs:1:1 There are more than 3 YAML files below specs."]


# Links.


def link(at: Path, to: str) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(to)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return write(tmp_path / "outside", {"a.yaml": "secret: 1"})


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("specs/a.yaml", "../../outside/a.yaml"),
        ("specs/folder", "../../outside"),
        ("specs/folder.yaml", "../../outside"),
        ("specs/none.yaml", "../../nowhere/a.yaml"),
        ("specs/hosts.yaml", "/etc/hosts"),
        ("specs/zero.yaml", "/dev/zero"),
        ("specs/prefix.yaml", "../../repo2/a.yaml"),
        ("specs/chain.yaml", "chained"),
        ("specs", "../outside"),
        ("stowplan.yml", "../outside/a.yaml"),
    ],
)
def test_a_link_that_leads_out_of_the_repository_is_refused(repo: Path, outside: Path, name: str, target: str) -> None:
    write(repo.parent, {"repo2/a.yaml": "secret: 1"})
    if target == "chained":
        link(repo / "specs/chained", "../../outside/a.yaml")
    if name == "stowplan.yml":
        (repo / "stowplan.yaml").unlink()
    link(repo / name, target)
    sources, diagnostics = run(repo)
    assert diagnostics == [f"SP109 {name}:1:1 The link leads out of the repository."]
    assert (() in sources.platform.refused, sources.documents) == (name == "stowplan.yml", ())
    assert "secret" not in str(sources.texts)


def test_other_links_that_lead_out_are_no_concern(repo: Path, outside: Path) -> None:
    link(repo / "specs/README.md", "../../outside/a.yaml")
    link(repo / "specs/gone", "../../nowhere")
    link(repo / "specs/.hidden.yaml", "../../outside/a.yaml")
    assert run(repo)[1] == []


def test_links_inside_the_repository_are_followed_under_their_own_names(repo: Path) -> None:
    write(repo, {"shared/a.yaml": "a: 1", "shared/deep/b.yaml": "b: 1", "one.yaml": "c: 1"})
    link(repo / "specs/folder", "../shared")
    link(repo / "specs/file.yaml", "../one.yaml")
    sources, diagnostics = run(repo)
    assert diagnostics == []
    assert files(sources) == ["specs/file.yaml", "specs/folder/a.yaml", "specs/folder/deep/b.yaml"]


def test_a_repository_reached_by_a_link_is_a_repository(repo: Path) -> None:
    write(repo, {"specs/a.yaml": "a: 1"})
    link(repo / "specs/b.yaml", "../b.yaml")
    write(repo, {"b.yaml": "b: 1"})
    link(repo.parent / "linked", "repo")
    assert run(repo.parent / "linked") == run(repo)


def test_a_file_behind_several_links_is_read_once(repo: Path) -> None:
    write(repo, {"specs/real/a.yaml": "a: 1", "shared/b.yaml": "b: 1"})
    link(repo / "specs/again", "real")
    link(repo / "specs/again.yaml", "real/a.yaml")
    link(repo / "specs/x", "../shared")
    link(repo / "specs/y", "../shared")
    link(repo / "specs/w.yaml", "../shared/b.yaml")
    sources, diagnostics = run(repo)
    assert diagnostics == []
    assert files(sources) == ["specs/real/a.yaml", "specs/w.yaml"]


def test_specs_may_itself_be_a_link(repo: Path) -> None:
    write(repo, {"teams/a.yaml": "a: 1"})
    link(repo / "specs", "teams")
    assert files(run(repo)[0]) == ["specs/a.yaml"]


@pytest.mark.parametrize("target", [".", "..", "../../specs", "../.."])
def test_a_link_back_to_a_folder_above_it_is_refused_once(repo: Path, target: str) -> None:
    write(repo, {"specs/x/a.yaml": "a: 1"})
    link(repo / "specs/x/loop", target)
    sources, diagnostics = run(repo)
    reason = "This cannot be read: the link leads back to a folder that it is in."
    assert (files(sources), diagnostics) == (["specs/x/a.yaml"], [f"SP112 specs/x/loop:1:1 {reason}"])


def test_links_in_a_circle_and_to_nothing_are_refused(repo: Path) -> None:
    link(repo / "specs/a.yaml", "b.yaml")
    link(repo / "specs/b.yaml", "a.yaml")
    link(repo / "specs/c.yaml", "gone.yaml")
    link(repo / "specs/self.yaml", "self.yaml")
    assert run(repo)[1] == [
        "SP112 specs/a.yaml:1:1 This cannot be read: its links lead in a circle.",
        "SP112 specs/b.yaml:1:1 This cannot be read: its links lead in a circle.",
        "SP112 specs/c.yaml:1:1 This cannot be read: it is not there.",
        "SP112 specs/self.yaml:1:1 This cannot be read: its links lead in a circle.",
    ]


def test_a_dangling_link_in_place_of_specs_is_refused(repo: Path) -> None:
    link(repo / "specs", "gone")
    assert run(repo)[1] == ["SP112 specs:1:1 This cannot be read: it is not there."]


# Files that are not regular, and names that must not be printed.


def test_pipes_sockets_and_folders_in_place_of_files_are_refused_without_waiting(tmp_path: Path) -> None:
    write(tmp_path, {"stowplan.yaml/x": ""})
    (tmp_path / "specs").mkdir()
    os.mkfifo(tmp_path / "specs/pipe.yaml")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "specs/socket.yaml"))
        assert run(tmp_path)[1] == [
            "SP112 specs/pipe.yaml:1:1 This cannot be read: it is a pipe.",
            "SP112 specs/socket.yaml:1:1 This cannot be read: it is a socket.",
            "SP112 stowplan.yaml:1:1 This cannot be read: it is a folder.",
        ]


@pytest.fixture
def unreadable() -> Iterator[Path]:
    """A repository whose files this process may not read; as root it takes another user's rights for the test.

    It is not below `tmp_path`, whose parents that user may not search.
    """
    repo = write(Path(tempfile.mkdtemp()), {"stowplan.yaml": "", "specs/a.yaml": "a: 1", "specs/b/c.yaml": "a: 1"})
    repo.chmod(0o755)
    (repo / "specs/a.yaml").chmod(0)
    (repo / "specs/b").chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield repo
    os.seteuid(user)
    (repo / "specs/b").chmod(0o700)
    shutil.rmtree(repo)


def test_files_and_folders_without_permission_are_refused(unreadable: Path) -> None:
    assert run(unreadable)[1] == [
        "SP112 specs/a.yaml:1:1 This cannot be read: permission is denied.",
        "SP112 specs/b:1:1 This cannot be read: permission is denied.",
    ]


def test_a_repository_that_may_not_be_searched_gives_a_diagnostic(unreadable: Path) -> None:
    assert [line.split()[0] for line in run(unreadable / "specs/b")[1]] == ["SP113"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"caf\xe9.yaml", "caf\\xe9.yaml"),
        (b"a\nb.yaml", "a\\nb.yaml"),
        (b"a\x1b[31m.yaml", "a\\x1b[31m.yaml"),
        ("a\u202eb.yaml".encode(), "a\\u202eb.yaml"),
        ("a b é.yaml".encode(), "a b é.yaml"),
        (b"\xff/\xff.yaml", "\\xff/\\xff.yaml"),
    ],
)
def test_file_names_are_shown_so_that_they_can_be_printed(repo: Path, name: bytes, shown: str) -> None:
    file = repo / "specs" / os.fsdecode(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a: 1\na: 2", encoding="utf-8")
    sources, diagnostics = run(repo)
    assert files(sources) == [f"specs/{shown}"]
    assert list(sources.texts) == ["stowplan.yaml", f"specs/{shown}"]
    assert diagnostics[0].startswith(f"SP102 specs/{shown}:2:1")
