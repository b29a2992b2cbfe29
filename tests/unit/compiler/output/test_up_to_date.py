"""`--check`: it names the differences and changes no file."""

from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output import inventory, lock
from stowplan.compiler.output.up_to_date import OutputComparison, compare
from stowplan.compiler.output.write import write
from stowplan.schema.diagnostics import Severity
from tests.unit.outputs import INVENTORY, config_map, files, folders, output, rendered, written


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def compared(out: Path, outputs: list[OutputFile]) -> tuple[OutputComparison, list[str]]:
    report = Report()
    before = (files(out), folders(out))
    found = compare(rendered(outputs), out, inventory.read(out)[0], report)
    assert (files(out), folders(out)) == before
    return found, [each.code for each in report.diagnostics]


def test_output_that_synth_just_wrote_has_no_difference(out: Path) -> None:
    outputs = [output("ml/a.yaml"), output("b.yaml")]
    written(out, outputs)
    found, codes = compared(out, outputs)
    assert (found, codes, found.same, list(found.lines())) == (OutputComparison(), [], True, [])


def test_a_folder_that_does_not_exist_lacks_everything_and_is_not_made(out: Path) -> None:
    found, _ = compared(out, [output("ml/a.yaml")])
    assert (found.missing, found.same) == ((INVENTORY, "ml/a.yaml"), False)
    assert not out.exists()


def test_each_difference_is_named_and_shown(out: Path) -> None:
    written(out, [output("a.yaml"), output("stale.yaml"), output("edited.yaml"), output("mine.yaml")])
    (out / "edited.yaml").write_bytes(files(out)["edited.yaml"] + b"extra: 1\n")
    (out / "mine.yaml").write_text("kind: Mine\n")
    found, codes = compared(out, [output("a.yaml", config_map("a", "2")), output("new.yaml"), output("edited.yaml")])
    assert codes == ["SP512"]
    assert not found.same
    assert list(found.lines()) == [
        "missing: new.yaml",
        "stale: stale.yaml",
        "foreign: mine.yaml",
        f"changed: {INVENTORY}",
        "changed: a.yaml",
        "edited by hand: edited.yaml",
        "",
        "--- committed/a.yaml",
        "+++ compiled/a.yaml",
        "@@ -6,4 +6,4 @@",
        "   name: a",
        "   namespace: ml",
        " data:",
        '-  value: "1"',
        '+  value: "2"',
        "",
        "--- committed/edited.yaml",
        "+++ compiled/edited.yaml",
        "@@ -7,4 +7,3 @@",
        "   namespace: ml",
        " data:",
        '   value: "1"',
        "-extra: 1",
    ]


def test_a_foreign_file_in_the_way_is_a_difference(out: Path) -> None:
    out.mkdir()
    (out / "a.yaml").write_text("kind: Mine\n")
    found, codes = compared(out, [output("a.yaml")])
    assert (found.foreign, found.same, codes) == (("a.yaml",), False, ["SP508"])


def test_a_committed_file_cannot_steer_the_terminal(out: Path) -> None:
    written(out, [output("a.yaml")])
    (out / "a.yaml").write_bytes(files(out)["a.yaml"] + b"x: \x1b[2J\xff\r\n")
    found, _ = compared(out, [output("a.yaml")])
    assert "-x: \\u001b[2J\\xff\\r" in list(found.lines())


def test_line_ends_that_git_changed_are_shown(out: Path) -> None:
    written(out, [output("a.yaml")])
    (out / "a.yaml").write_bytes(files(out)["a.yaml"].replace(b"\n", b"\r\n"))
    found, _ = compared(out, [output("a.yaml")])
    assert "-kind: ConfigMap\\r" in list(found.lines())


def test_a_lost_last_line_end_is_shown(out: Path) -> None:
    written(out, [output("a.yaml")])
    (out / "a.yaml").write_bytes(files(out)["a.yaml"].rstrip())
    found, _ = compared(out, [output("a.yaml")])
    assert "-\\ no line end here" in list(found.lines())


def test_the_diff_of_a_huge_file_is_left_out(out: Path) -> None:
    written(out, [output("a.yaml", config_map("a", "x\n" * 400_000))])
    found, _ = compared(out, [output("a.yaml")])
    assert [line for line in found.lines() if "too large" in line]


def test_a_check_takes_no_lock(out: Path) -> None:
    written(out, [output("a.yaml")])
    with lock.held(out):
        found, codes = compared(out, [output("a.yaml")])
    assert (found.same, codes) == (True, [])


def test_unreadable_and_unwritable_files_are_a_difference(out: Path) -> None:
    out.write_text("mine")
    report = Report()
    assert not compare(rendered([output("a.yaml")]), out, inventory.read(out)[0], report).same
    assert [each.code for each in report.diagnostics] == ["SP510"]


def test_outputs_that_collide_are_a_difference(out: Path) -> None:
    found, codes = compared(out, [output("a.yaml"), output("A.yaml", config_map("b"))])
    assert (found.same, codes) == (False, ["SP507"])


@pytest.mark.parametrize("name", ["x.yaml", "sub/x.yml", ".x.yaml", "x.json", "x.jsonnet", "a.yml", ".h/x.yaml"])
def test_a_foreign_manifest_where_argo_cd_syncs_is_an_error_of_the_check_alone(out: Path, name: str) -> None:
    outputs = [output("ml/a.yaml"), output("b.yaml")]
    written(out, outputs)
    (out / "ml" / name).parent.mkdir(exist_ok=True)
    (out / "ml" / name).write_text("kind: ConfigMap\n")
    found, codes = compared(out, outputs)
    assert (found.foreign, found.same, codes) == ((f"ml/{name}",), False, ["SP517"])
    assert written(out, outputs)[1] == ["SP517"]


@pytest.mark.parametrize("name", ["README.md", "x.yaml.off", ".gitignore", ".git/config", ".h/.argocd"])
def test_any_other_file_where_argo_cd_syncs_is_an_error(out: Path, name: str) -> None:
    written(out, [output("ml/a.yaml")])
    (out / "ml" / name).parent.mkdir(exist_ok=True)
    (out / "ml" / name).write_text("mine")
    found, codes = compared(out, [output("ml/a.yaml")])
    assert (found.foreign, found.same, codes) == ((f"ml/{name}",), False, ["SP518"])


def test_a_link_where_argo_cd_syncs_is_an_error(out: Path) -> None:
    written(out, [output("ml/a.yaml")])
    (out / "ml/x.yaml").symlink_to(f"../{INVENTORY}")
    (out / "ml/folder").symlink_to("..")
    found, codes = compared(out, [output("ml/a.yaml")])
    assert (found.foreign, codes) == (("ml/folder", "ml/x.yaml"), ["SP518", "SP517"])


def test_an_empty_folder_without_outputs_where_argo_cd_syncs_is_an_error(out: Path) -> None:
    written(out, [output("ml/a.yaml")])
    (out / "ml/set/sub").mkdir(parents=True)
    assert compared(out, [output("ml/a.yaml")])[0].foreign == ("ml/set/sub/",)
    found, codes = compared(out, [output("ml/a.yaml"), output("ml/set/sub/b.yaml")])
    assert (found.foreign, found.missing, codes) == ((), ("ml/set/sub/b.yaml",), [])


def test_diagnostics_of_a_check_are_errors(out: Path) -> None:
    written(out, [output("ml/a.yaml")])
    for name in ("x.yaml", "README.md"):
        (out / "ml" / name).write_text("mine")
    (out / "ml/ours.yaml").write_bytes(files(out)["ml/a.yaml"])
    report = Report()
    compare(rendered([output("ml/a.yaml")]), out, inventory.read(out)[0], report)
    assert {(each.code, each.severity) for each in report.diagnostics} == {
        (code, Severity.ERROR) for code in ("SP512", "SP517", "SP518")
    }


@pytest.mark.parametrize("ending", ["yml", "json"])
def test_our_header_hides_no_file(out: Path, ending: str) -> None:
    written(out, [output("ml/a.yaml")])
    (out / f"ml/x.{ending}").write_bytes(files(out)["ml/a.yaml"])
    assert compared(out, [output("ml/a.yaml")])[0].foreign == (f"ml/x.{ending}",)


def test_temporary_files_of_a_dead_run_are_stale(out: Path) -> None:
    written(out, [output("ml/a.yaml")])
    (out / "ml/.stowplan-tmp-1").write_text("")
    found, codes = compared(out, [output("ml/a.yaml")])
    assert (found.stale, found.same, codes) == (("ml/.stowplan-tmp-1",), False, [])


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("x.yaml", "x.yaml"),
        ("README.md", "README.md"),
        (".gitattributes", ".gitattributes"),
        ("mine/x.yaml", "mine/"),
        ("mine/deep/.x", "mine/"),
        (".github/CODEOWNERS", ".github/"),
        ("_inventory/ml/x.txt", "_inventory/ml/x.txt"),
        ("_inventory/mine/x.txt", "_inventory/mine/"),
    ],
)
def test_any_file_where_nothing_is_synced_is_an_error_too(out: Path, name: str, entry: str) -> None:
    outputs = [output("ml/a.yaml"), output("b.yaml")]
    written(out, outputs)
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("kind: ConfigMap\n")
    found, codes = compared(out, outputs)
    assert (found.foreign, found.same, codes) == ((entry,), False, ["SP537"])
    assert written(out, outputs)[1] == ["SP537"]


def test_a_link_where_nothing_is_synced_is_an_error(out: Path) -> None:
    written(out, [output("ml/a.yaml")])
    (out / "mine").mkdir()
    for name in ("link", "mine/link"):
        (out / name).symlink_to("ml")
    found, codes = compared(out, [output("ml/a.yaml")])
    assert (found.foreign, codes) == (("link", "mine/"), ["SP537", "SP537"])


def test_an_empty_folder_where_nothing_is_synced_is_none(out: Path) -> None:
    """No commit holds it, and what Git checks out as one is looked for in Git."""
    written(out, [output("ml/a.yaml")])
    (out / "mine/empty").mkdir(parents=True)
    assert compared(out, [output("ml/a.yaml")]) == (OutputComparison(), [])


def test_folder_of_which_all_outputs_are_stale_is_none_of_strangers(out: Path) -> None:
    written(out, [output("ml/a.yaml"), output("old/a.yaml")])
    (out / "old/mine").write_text("mine")
    found, codes = compared(out, [output("ml/a.yaml")])
    assert (found.stale, found.foreign, codes) == (("old/a.yaml",), ("old/mine",), ["SP537"])


def test_other_files_of_a_work_tree_whose_top_the_folder_is_are_none_of_its(out: Path) -> None:
    """CI of a repository that holds nothing but an output has to be at its top."""
    written(out, [output("ml/a.yaml")])
    for name in (".git/config", ".github/workflows/a.yaml", "README.md"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
    assert compared(out, [output("ml/a.yaml")]) == (OutputComparison(), [])


def test_in_ci_nothing_is_written_beside_foreign_entries(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    written(out, [output("ml/a.yaml")])
    (out / "mine").write_text("mine")
    report = Report()
    write(rendered([output("ml/b.yaml")]), out, inventory.read(out)[0], report)
    assert [(each.code, each.severity) for each in report.diagnostics] == [("SP537", Severity.ERROR)]
    assert files(out).keys() == {"ml/a.yaml", INVENTORY, "mine"}


@pytest.mark.parametrize(
    ("found", "remedy"),
    [
        (OutputComparison(missing=("a",)), "Run `stowplan synth` and commit the result."),
        (OutputComparison(foreign=("a",)), "Remove the foreign entries and commit the result."),
        (
            OutputComparison(stale=("a",), foreign=("b",)),
            "Remove the foreign entries, run `stowplan synth` and commit the result.",
        ),
    ],
)
def test_remedy(found: OutputComparison, remedy: str) -> None:
    assert found.remedy == remedy


def test_invisible_characters_of_paths_are_escaped(out: Path) -> None:
    written(out, [output("ml/\u202ea.yaml", config_map("a", "1"))])
    found, _ = compared(out, [output("ml/\u202ea.yaml", config_map("a", "2"))])
    assert [line for line in found.lines() if "a.yaml" in line] == [
        "changed: ml/\\u202ea.yaml",
        "--- committed/ml/\\u202ea.yaml",
        "+++ compiled/ml/\\u202ea.yaml",
    ]
