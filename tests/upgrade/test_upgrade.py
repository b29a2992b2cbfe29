"""Repositories of earlier versions are compiled by this one: no run starts, and nothing is fetched again or deleted."""

import re
import subprocess
import tarfile
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from stowplan.compiler.app import App
from stowplan.library import constructs
from stowplan.library.manifest import Json
from tests.unit.users import run
from tests.upgrade.changes import NEW, Change, changes

VERSIONS = {path.name.removesuffix(".tar.xz"): path for path in sorted(Path(__file__).parent.glob("*.tar.xz"))}
"""The repositories of each version, which are its examples with their output: see `pack`."""

EDITS = {
    "0.1.0": {
        # A Secret of another namespace needs an entry of the platform file.
        "shared-dataset/stowplan.yaml": (
            r"\Z",
            "policy:\n  crossNamespaceSecrets: [{specNamespace: vision, secretNamespace: data}]\n",
        ),
        # A `clear` with paths is refused, so a finished one has to go.
        "kitchen-sink/specs/samplejobs.yaml": (r"---\n(?:(?!---).+\n)*  name: clear-nvme\n(?:(?!---).+\n)*", ""),
    }
}
"""What the changelog tells users to edit in an example, by file: a pattern, and what takes its place."""
EXPECTED = {
    "0.1.0": (
        # The root Application has an AppProject of its own. Existing clusters move by themselves with the first sync.
        r"\S+: out of sync: Application \S+-root: spec.project is edited, from 'default' to '\S+-root'",
        r"kitchen-sink: deletes: \w+ kitchen/clear-nvme\S*: it is gone",
    )
}
"""Patterns of all harms that the changelog announces, or that follow from `EDITS`."""


def unpacked(version: str, repository: Path) -> None:
    """Make the repository as it was committed before the upgrade, then edit the specs."""
    with tarfile.open(VERSIONS[version]) as archive:
        archive.extractall(repository, filter="data")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=a")):
        subprocess.run(["git", *words], cwd=repository, check=True)
    for file, (pattern, text) in EDITS.get(version, {}).items():
        path = repository / "examples" / file
        edited, count = re.subn(pattern, text, path.read_text(encoding="utf-8"))
        assert count == 1
        path.write_text(edited, encoding="utf-8")


@cache
def parsed(content: bytes) -> Json:
    """The object in a file; many examples have the same one."""
    return dict(yaml.load(content, yaml.CSafeLoader))


def output(folder: Path) -> dict[str, Json]:
    return {path.relative_to(folder).as_posix(): parsed(path.read_bytes()) for path in sorted(folder.rglob("*.yaml"))}


def upgraded(example: Path, out: Path, version: str) -> list[Change]:
    """Compile an example, check the result as CI of the pull request does, and return the changes.

    The inventory of a version in development says that this version compiled it, so a base has to vouch for it.
    """
    before = output(out)
    for options in (("--base", "HEAD") if ".dev" in version else (), ("--check", "--base", "HEAD")):
        result = run("synth", str(example), "--out", str(out), *options)
        assert result.exit_code == 0, result.output
        assert not re.search("^starts ", result.output, re.MULTILINE), result.output
    return list(changes(before, output(out)))


def summary(found: Mapping[str, list[Change]]) -> str:
    """The harmless changes, and how many examples have them."""
    lines: Counter[str] = Counter()
    for each in found.values():
        lines.update({line(change) for change in each if not change.harm and not change.field.endswith(".description")})
    return "".join(f"{text}: {count}\n" for text, count in sorted(lines.items()))


def line(change: Change) -> str:
    """A change without what differs between examples, and without the attributes of a new field of a CRD."""
    kind, name = change.object.split()
    field = re.sub(r"\[\{.*\}\].*", "[]", change.field)
    if kind == "CustomResourceDefinition":
        field = re.sub(r"^.*openAPIV3Schema|\.properties|\.items", "", field)
        kind, field = name, field.rpartition(".")[0] if change.way == NEW else field
    return f"{change.way}: {kind} {field}".rstrip()


@pytest.mark.parametrize("version", VERSIONS)
def test_upgrade(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    repository = tmp_path / "repository"
    unpacked(version, repository)
    examples = [path.parent for path in sorted(repository.glob("examples/*/stowplan.yaml"))]
    found = {each.name: upgraded(each, repository / "out" / each.name, version) for each in examples}
    harms = {f"{example}: {change}" for example, each in found.items() for change in each if change.harm}
    expected = {
        pattern: {harm for harm in harms if re.fullmatch(pattern, harm)} for pattern in EXPECTED.get(version, ())
    }
    others = sorted(harms.difference(*expected.values()))
    assert not others, "\n".join(others)
    assert all(expected.values())
    assert summary(found) == snapshot


def test_a_program_keeps_the_runs_of_specs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Specs move from files into an app with the upgrade."""
    unpacked("0.1.0", tmp_path)
    example, out = tmp_path / "examples/constructs", tmp_path / "out/constructs"
    file = example / "specs/flowers.yaml"
    documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    file.unlink()
    before = output(out)
    for arguments in ([], ["--check", "--base", "HEAD"]):
        app = App(str(example), out=str(out))
        for each in documents:
            getattr(constructs, each["kind"])(app, each["metadata"]["name"], spec=each)
        app.synth(arguments)
        assert not re.search("^starts ", capsys.readouterr().err, re.MULTILINE)
    assert {each.object for each in changes(before, output(out)) if each.harm} == set()
