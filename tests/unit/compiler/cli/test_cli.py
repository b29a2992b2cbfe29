"""The command line: its output and its exit codes.

`tests/command/test_process.py` looks at its processes.
"""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import stowplan.library.constructs  # noqa: F401 - brings the Node that `synth` needs, before a test changes folder
from stowplan.compiler.cli import app
from stowplan.compiler.diagnostics.console import print_text
from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.pages import page
from stowplan.compiler.diagnostics.report import Diagnostic
from stowplan.compiler.generate.export import crds, schemas
from stowplan.schema.diagnostics import Severity
from tests.unit.outputs import files

PLATFORM = """\
images: {registry: registry.example.com/ml, tag: "1"}
argocd: {repoURL: https://git.example.com/ml/data.git}
"""
SPEC = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: imagenet
spec:
  partitions: 2
  noSync: true
  secretRef:
    name: imagenet
  cache:
    levels:
      - path: /data/imagenet
        cacheSize: 1024
"""
TRAINING = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: mnist}
spec: {framework: torch, image: "registry.example.com/ml/mnist:1", command: [python, train.py]}
"""
COMMANDS = ("init", "validate", "synth", "watch", "diff", "status", "migrate", "explain", "crds", "schema")
WRONG = SPEC.replace("partitions: 2", "partitions: two")
BEFORE = "specs/imagenet.yaml:6:15: "


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one spec, which the test is in."""
    (tmp_path / "stowplan.yaml").write_text(PLATFORM)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/imagenet.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


# Below the repository's folder.


def test_the_repository_is_found_from_its_subfolders(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".git").mkdir()
    (repo / "specs/imagenet.yaml").write_text(TRAINING)
    monkeypatch.chdir(repo / "specs")
    assert run("synth").exit_code == 0
    assert (repo / "out/_inventory").exists()
    assert run("explain", "imagenet.yaml:4").exit_code == 0


def test_no_repository_above_the_git_work_tree_is_used(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "other/.git").mkdir(parents=True)
    monkeypatch.chdir(repo / "other")
    result = run("validate")
    assert (result.exit_code, "SP113" in result.output) == (1, True)


# A cluster that does not exist.


KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
"""


def test_status_names_the_server_and_the_context_that_do_not_answer(repo: Path) -> None:
    (repo / "kubeconfig").write_text(KUBECONFIG)
    result = run("status", "--kubeconfig", "kubeconfig", "--context", "here")
    expected = (
        'The API server https://127.0.0.1:9 of the context "here" cannot be reached:'
        " Failed to establish a new connection: [Errno 111] Connection refused.\n"
    )
    assert (result.exit_code, result.stderr) == (1, expected)


def test_status_without_any_kubeconfig(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(repo / "nothing"))
    result = run("status")
    assert result.exit_code == 1
    assert result.stderr.startswith("The kubeconfig cannot be used: ")
    assert result.stderr.count("\n") == 1


# The command itself.


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.exit_code == 0
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)


def test_help_of_each_command_shows_an_example_that_is_one() -> None:
    for name in COMMANDS:
        text = " ".join(run(name, "--help").output.split())
        words = text.partition("Example: ")[2].split()
        assert words[:2] == ["stowplan", name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["validate", "nowhere"], "nowhere is not a folder"),
        (["validate", "stowplan.yaml"], "stowplan.yaml is not a folder"),
        (["synth", "--chek"], "No such option: --chek"),
        (["validat"], "No such command 'validat'"),
        (["validate", "--format", "xml"], "'xml' is not one of 'text', 'json'"),
        (["validate", ".", "another"], "unexpected extra argument"),
        (["synth", "--recompile", "imagnet"], "no spec imagnet"),
        (["explain"], "Missing argument 'WHAT'"),
        (["explain", "SP2044"], 'Did you mean "SP204"?'),
        (["explain", "dataset.spec.cahce"], 'Dataset.spec has no field "cahce". Did you mean "cache"?'),
        (["explain", "nonsense"], "`stowplan explain --list` prints all codes and kinds"),
        (["crds", "stowplan.yaml/crds"], "stowplan.yaml/crds: Not a directory"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_reason_on_stderr(repo: Path, arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_without_arguments_there_is_help() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Usage: stowplan" in result.output


# Diagnostics.


def test_without_errors_only_the_summary_is_printed(repo: Path) -> None:
    result = run("validate")
    assert (result.exit_code, result.output) == (0, "0 errors, 0 warnings, 0 infos\n1 spec in 1 file\n")


def test_all_specs_of_a_file_are_counted(repo: Path) -> None:
    """Also where nothing changed, and objects that are no specs are none."""
    (repo / "specs/more.yaml").write_text("---\n".join(SPEC.replace("imagenet", name) for name in ("a", "b")))
    for _ in range(2):
        assert run("validate").stdout.splitlines()[-1] == "3 specs in 2 files"
        assert "3 specs in 2 files" in run("synth").stdout.splitlines()


def test_an_error_is_reported_at_its_position(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(WRONG)
    result = run("validate")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f'{BEFORE}error SP203: Found the string "two"; allowed is a whole number.',
        "  at spec.partitions",
        "  help: Give a whole number.",
        "1 error, 0 warnings, 0 infos",
    ]


def test_warnings_alone_do_not_fail(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC + "  source: {uri: 's3://imagenet.example.com/'}\n")
    assert run("validate").exit_code == 0


def test_json_for_programs(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(WRONG)
    result = run("validate", "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "diagnostics": [
            {
                "code": "SP203",
                "severity": "error",
                "file": "specs/imagenet.yaml",
                "line": 6,
                "column": 15,
                "fieldPath": "spec.partitions",
                "message": 'Found the string "two"; allowed is a whole number.',
                "hint": "Give a whole number.",
            }
        ],
        "objects": 0,
        "specs": 0,
        "specFiles": 0,
    }


def test_json_of_synth_counts_files_and_names_started_jobs(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(
        SPEC.replace("noSync: true", "source: {uri: 's3://imagenet.example.com/'}")
    )
    reported = json.loads(run("synth", "--format", "json").stdout)
    assert list(reported) == ["diagnostics", "objects", "specs", "specFiles", "files", "starts"]
    created = reported["objects"] + len(list((repo / "out/_inventory").rglob("*.jsonl")))
    assert reported["files"] == {"created": created, "changed": 0, "unchanged": 0, "removed": 0}
    assert [start.rpartition("-")[0] for start in reported["starts"]] == [
        "Job default/imagenet-sync",
        "Job default/imagenet-warmup-0",
        "Job default/imagenet-warmup-1",
    ]
    again = json.loads(run("synth", "--check", "--format", "json").stdout)
    assert again == {
        "diagnostics": [],
        "objects": reported["objects"],
        "specs": 1,
        "specFiles": 1,
        "upToDate": True,
        "starts": [],
    }


# The excerpt.


def printed(text: str, line: int, column: int, *, terminal: bool = True, hint: str = "Do so.") -> list[str]:
    """What is printed for a diagnostic at a place in a file, without its colours."""
    stream = StringIO()
    console = Console(file=stream, force_terminal=terminal, color_system=None, width=80)
    place = Location("specs/a.yaml", line, column)
    print_text(console, [Diagnostic("SP203", Severity.ERROR, place, "spec", "It is so.", hint)], {"specs/a.yaml": text})
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("line", "column", "shown", "caret"),
    [
        ("spec: 1", 7, "spec: 1", 6),
        ("spec:\t1", 7, "spec:   1", 8),
        ("\t1", 2, "    1", 4),
        ("名前: x", 5, "名前: x", 6),
        ("é: x", 4, "é: x", 3),
        ("e\u0301: x", 5, "e\u0301: x", 3),
        ("a: \x85x", 5, "a: \\u0085x", 9),
        ("ab", 3, "ab", 2),
        ("[red]a[/]: :key: x", 18, "[red]a[/]: :key: x", 17),
    ],
)
def test_on_a_terminal_a_caret_marks_the_position(line: str, column: int, shown: str, caret: int) -> None:
    assert printed(f"# first\n{line}\n# last\n", 2, column)[1:3] == [f"    2 | {shown}", f"      | {' ' * caret}^"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_the_excerpt_end_where_those_of_positions_do(end: str) -> None:
    assert printed(f"a: \x85\u2028\x0b1{end}b: 2{end}", 2, 4)[1] == "    2 | b: 2"


def test_a_long_line_is_cut_around_the_place() -> None:
    excerpt, caret = printed(f"{'x' * 5_000}HERE{'y' * 5_000}", 1, 5_001)[1:3]
    assert len(excerpt) < 200
    assert excerpt[caret.index("^") :].startswith("HERE")
    assert excerpt.startswith("    1 | …")
    assert excerpt.endswith("…")


def test_the_start_of_a_long_line_is_shown() -> None:
    excerpt, caret = printed(f"key: {'y' * 5_000}", 1, 6)[1:3]
    assert excerpt.startswith("    1 | key: yyy")
    assert excerpt[caret.index("^") - 1 :].startswith(" yyy")


def test_elsewhere_than_on_a_terminal_there_is_no_excerpt() -> None:
    assert printed("spec: 1", 1, 7, terminal=False) == [
        "specs/a.yaml:1:7: error SP203: It is so.",
        "  at spec",
        "  help: Do so.",
        "1 error, 0 warnings, 0 infos",
    ]


@pytest.mark.parametrize("line", [3, 99])
def test_a_position_beyond_the_end_has_no_excerpt(line: int) -> None:
    assert len(printed("a: 1\n", line, 1)) == 4


def test_markup_in_strings_is_not_interpreted() -> None:
    assert (
        printed("a", 1, 1, hint='Give "[bold]:key:[/]" \x1b[31m.')[-2] == '  help: Give "[bold]:key:[/]" \\u001b[31m.'
    )


# `synth --check`.


def test_check_of_a_fresh_repository_changes_nothing_and_fails(repo: Path) -> None:
    before = files(repo)
    result = run("synth", "--check")
    assert result.exit_code == 1
    assert "missing: default/sampleset-imagenet/service-imagenet-runtime-service.yaml" in result.stdout.splitlines()
    assert "Run `stowplan synth` and commit the result." in result.stdout
    assert files(repo) == before


def test_check_succeeds_after_synth(repo: Path) -> None:
    assert run("synth").exit_code == 0
    before = files(repo)
    result = run("synth", "--check")
    assert result.exit_code == 0
    assert result.stdout == "0 errors, 0 warnings, 0 infos\n1 spec in 1 file\nout is what the specs compile to.\n"
    assert files(repo) == before


def test_check_shows_what_an_edit_would_change(repo: Path) -> None:
    run("synth")
    (repo / "specs/imagenet.yaml").write_text(SPEC.replace("partitions: 2", "partitions: 3"))
    before = files(repo)
    result = run("synth", "--check")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert "changed: default/sampleset-imagenet/statefulset-imagenet-runtime.yaml" in lines
    assert {"-  replicas: 2", "+  replicas: 3"} <= set(lines)
    assert files(repo) == before


def test_check_finds_edited_and_stale_files(repo: Path) -> None:
    run("synth")
    service = repo / "out/default/sampleset-imagenet/service-imagenet-runtime-service.yaml"
    service.write_text(service.read_text().replace("clusterIP: None", "clusterIP: 10.0.0.1"))
    (repo / "specs/imagenet.yaml").rename(repo / "specs/imagenet.yaml.off")
    lines = run("synth", "--check").stdout.splitlines()
    assert "stale: default/sampleset-imagenet/role-imagenet-sampleset.yaml" in lines
    (repo / "specs/imagenet.yaml.off").rename(repo / "specs/imagenet.yaml")
    lines = run("synth", "--check").stdout.splitlines()
    assert "edited by hand: default/sampleset-imagenet/service-imagenet-runtime-service.yaml" in lines


def test_check_with_errors_prints_only_the_errors(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text(WRONG)
    result = run("synth", "--check")
    assert (result.exit_code, result.stdout) == (1, run("validate").stdout)


def test_another_output_folder(repo: Path) -> None:
    result = run("synth", "--out", "elsewhere/out")
    assert result.exit_code == 0
    assert (repo / "elsewhere/out/_inventory").exists()
    assert not (repo / "out").exists()
    assert run("synth", "--out", "elsewhere/out", "--check").exit_code == 0


@pytest.mark.parametrize("out", ["specs", "specs/out", "./specs/../specs", ".", "..", "linked", "linked/out"])
def test_an_output_folder_in_or_around_the_specs_is_refused(repo: Path, out: str) -> None:
    (repo / "linked").symlink_to("specs")
    before = files(repo)
    for arguments in (["--out", out], ["--out", out, "--check"], ["--out", str(repo / out)]):
        result = run("synth", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "specs" in result.stderr
    assert files(repo) == before


def test_an_output_folder_whose_name_begins_like_that_of_the_specs_is_allowed(repo: Path) -> None:
    assert run("synth", "--out", "specs-compiled").exit_code == 0


# The other commands.


def test_crds_are_written(repo: Path) -> None:
    result = run("crds", "made/crds")
    assert result.exit_code == 0
    assert files(repo / "made/crds") == {name: text.encode() for name, text in crds().items()}
    assert result.stdout.split() == [f"made/crds/{name}" for name in sorted(crds())]


def test_schemas_are_written(repo: Path) -> None:
    assert run("schema").exit_code == 0
    assert files(repo / "schema") == {name: text.encode() for name, text in schemas().items()}


def test_schemas_have_the_pods_of_the_platforms_kubernetes(repo: Path) -> None:
    (repo / ".git").mkdir()
    (repo / "stowplan.yaml").write_text('kubernetesVersion: "1.35"\n')
    assert run("schema", ".schemas").exit_code == 0
    assert '"Types of Kubernetes 1.35"' in (repo / ".schemas/kubernetes.schema.json").read_text()


@pytest.mark.parametrize("code", ["SP204", "sp204", "204"])
def test_a_code_is_explained(code: str) -> None:
    result = run("explain", code)
    assert (result.exit_code, result.stdout) == (0, page("SP204"))


def test_all_codes_are_listed_with_their_titles() -> None:
    lines = run("explain", "--list").output.splitlines()
    assert "SP201  error    A field is not known" in lines
    kinds = "DataCube, Dataset, DatasetTask, MxJob, PaddleJob, Platform, SampleJob, SampleSet, Training, TrainingJob"
    assert lines[-1] == f"Kinds: {kinds}"
