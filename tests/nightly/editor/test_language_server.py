"""A real YAML language server on a repository from `stowplan init`: its output while a user writes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler.generate import export, starter
from stowplan.schema.export.json_schema import MODELS
from tests.nightly.editor.language_server import Editor, Problem, editing
from tests.nightly.editor.npm import needed
from tests.repositories import REPOSITORY

HEAD = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata:
  name: mnist
spec:
"""
COMPLETE = "  noSync: true\n  secretRef: {name: volume}\n"
"""What a SampleSet needs beside `partitions`."""
MODELINE = "# yaml-language-server: $schema=../.schemas/stowplan.schema.json\n"
KINDS = sorted(model.__name__ for model in MODELS)
LISTED = ", ".join(f'"{kind}"' for kind in KINDS)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("editor")
    starter.write(folder)
    return folder


def settings(repo: Path) -> dict[str, Any]:
    """The settings of the repository by section; the catalogue of schemas in the internet stays out."""
    given = json.loads((repo / ".vscode/settings.json").read_text())
    own = {key.removeprefix("yaml."): value for key, value in given.items() if key.startswith("yaml.")}
    return {"yaml": own | {"schemaStore": {"enable": False}, "kubernetesCRDStore": {"enable": False}}}


@pytest.fixture(scope="module")
def editor(repo: Path) -> Iterator[Editor]:
    """As VS Code has it, with the settings of the repository."""
    with editing(needed(), repo, settings(repo)) as found:
        yield found


@pytest.fixture(scope="module")
def bare(repo: Path) -> Iterator[Editor]:
    """An editor that knows the modelines alone."""
    with editing(needed(), repo, {"yaml": {"schemaStore": {"enable": False}}}) as found:
        yield found


# Problems.


@pytest.mark.parametrize("path", ["stowplan.yaml", "specs/mnist.yaml", "specs/mnist-train.yaml"])
def test_the_starter_has_none_with_or_without_settings(editor: Editor, bare: Editor, repo: Path, path: str) -> None:
    text = (repo / path).read_text()
    assert editor.problems(path, text) == bare.problems(path, text) == []


EXAMPLES = sorted(path.parent.relative_to(REPOSITORY) for path in REPOSITORY.glob("examples/*/stowplan.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_have_none(editor: Editor, example: Path) -> None:
    folder = REPOSITORY / example
    files = [folder / "stowplan.yaml", *sorted(folder.glob("specs/**/*.y*ml"))]
    found = {str(path): editor.problems(path.relative_to(folder).as_posix(), path.read_text()) for path in files}
    assert found == {str(path): [] for path in files}


@pytest.mark.parametrize(
    ("spec", "line", "text"),
    [
        ("  partitions: 2\n  partition: 2\n", 9, "Property partition is not allowed."),
        ("  partitions: two\n", 8, 'Incorrect type. Expected "integer".'),
        ("  partitions: 0\n", 8, "Value is below the minimum of 1."),
        ("  partitions: 1\n  source:\n    url: a\n", 10, "Property url is not allowed."),
        ("  partitions: 1\n  partitions: 2\n", 9, "Map keys must be unique"),
        ("  partitions: 1\nstat: {}\n", 9, "Property stat is not allowed."),
        (
            "  partitions: 1\n  source: {uri: samples-of-mnist}\n",
            9,
            "The address of a storage is NAME://BUCKET[.ENDPOINT][/PREFIX], such as s3://bucket.s3.example.com/train/.",
        ),
    ],
)
def test_mistakes_are_at_their_lines(editor: Editor, bare: Editor, spec: str, line: int, text: str) -> None:
    body = HEAD + COMPLETE + spec
    assert editor.problems("specs/deep/a.yml", body) == [Problem(line, text)]
    assert bare.problems("specs/a.yaml", MODELINE + body) == [Problem(line + 1, text)]


PADDLE_JOB = """\
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata:
  name: mnist
spec:
  worker:
    replicas: 1
    template:
      spec:
        containers:
          - name: main
            image: registry.example.com/ml/mnist:1.0
"""


@pytest.mark.parametrize(
    ("container", "line", "text"),
    [
        ("            comand: [run]\n", 13, "Property comand is not allowed."),
        ("            workingDir: 5\n", 13, "Incorrect type. Expected one of string, null."),
        ("            imagePullPolicy: always\n", 13, "Value is not accepted. Valid values"),
        ("            resources:\n              request: {}\n", 14, "Property request is not allowed."),
    ],
)
def test_mistakes_in_pod_templates_are_at_their_lines(editor: Editor, container: str, line: int, text: str) -> None:
    (found,) = editor.problems("specs/a.yaml", PADDLE_JOB + container)
    assert found.line == line
    assert found.text.startswith(text)


def test_fields_of_containers_are_completed(editor: Editor) -> None:
    text = PADDLE_JOB + "            |\n"
    assert {"args", "command", "resources", "volumeMounts"} <= labels(editor, "specs/a.yaml", text)


def test_what_is_missing_is_told_where_it_should_be(editor: Editor) -> None:
    text = HEAD.replace("name: mnist", "labels: {}") + COMPLETE + "  partitions: 1\n"
    assert editor.problems("specs/a.yaml", text) == [Problem(3, 'Missing property "name".')]
    assert editor.problems("specs/a.yaml", HEAD.replace("spec:\n", "")) == [Problem(1, 'Missing property "spec".')]
    missing = [Problem(5, f'Missing property "{name}".') for name in ("partitions", "secretRef", "source")]
    found = editor.problems("specs/a.yaml", HEAD + "  warmupAfterSync: false\n")
    assert sorted(found, key=lambda problem: problem.text) == missing


def test_without_settings_and_modeline_nothing_is_known(bare: Editor) -> None:
    assert bare.problems("specs/a.yaml", HEAD + "  partition: 2\n") == []


def test_each_document_of_a_file_by_its_kind(editor: Editor) -> None:
    job = HEAD.replace("SampleSet", "SampleJob").replace("mnist", "job")
    text = "---\n".join(
        (
            HEAD + COMPLETE + "  partitions: 1\n  partition: 2\n",
            job + "  sampleSetRef: {name: mnist}\n  type: copy\n",
            "kind: Sampleset\n",
            "metadata: {}\n",
            job + "  sampleSetRef: {name: mnist}\n  type: clear\n",
            "",
        )
    )
    assert editor.problems("specs/a.yaml", text) == [
        Problem(9, "Property partition is not allowed."),
        Problem(17, 'Value is not accepted. Valid values: "sync", "warmup", "rmr", "clear".'),
        Problem(19, f"Value is not accepted. Valid values: {LISTED}."),
        Problem(21, 'Missing property "kind".'),
    ]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("stowplan.yaml", "", []),
        ("stowplan.yaml", "defaultNamespace: ml\n", []),
        ("stowplan.yaml", "defaultNamespace: ml\nnames: short\n", [2]),
        ("specs/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", []),
        ("specs/a.yaml", HEAD.replace("v1alpha1", "v1") + COMPLETE + "  partitions: 1\n", [1]),
        ("specs/a.yaml", HEAD + COMPLETE.replace("true", "yes") + "  partitions: 010\n", []),
        ("specs/a.yaml", HEAD + COMPLETE + "  <<: {partitions: 1}\n", []),
        ("specs/a.yaml", HEAD + COMPLETE + "  partitions: 1\n  <<: {partition: 1}\n", [9]),
        ("out/ml/a.yaml", HEAD + "  partition: 1\n", []),
    ],
)
def test_what_the_compiler_takes_is_taken(editor: Editor, path: str, text: str, found: list[int]) -> None:
    """An empty platform file, plain objects, YAML as kubectl reads it; `out/` is not written by people."""
    assert [each.line for each in editor.problems(path, text)] == found


# Completion and hover.


def labels(editor: Editor, path: str, text: str) -> set[str]:
    return {each["label"] for each in editor.completions(path, text)}


def test_kinds_are_completed(editor: Editor) -> None:
    assert labels(editor, "specs/a.yaml", "kind: |\n") == set(KINDS)


def test_fields_are_completed_with_their_descriptions(editor: Editor, bare: Editor) -> None:
    wanted = fields_of("sampleset", "spec")
    items = {each["label"]: each for each in editor.completions("specs/a.yaml", HEAD + "  |\n")}
    # The language server also offers the fields that are missing, under the title of the kind.
    assert items.keys() - wanted.keys() == {"SampleSet"}
    assert {name: items[name]["documentation"] for name in wanted} == wanted
    assert items["cache"]["insertText"].startswith("cache:\n")
    assert labels(bare, "specs/a.yaml", MODELINE + HEAD + "  |\n") >= wanted.keys()


def test_fields_further_down_are_completed(editor: Editor) -> None:
    text = HEAD + "  partitions: 1\n  cache:\n    levels:\n      - path: /a\n        |\n"
    assert {"cacheSize", "mediumType"} <= labels(editor, "specs/a.yaml", text)
    assert "path" not in labels(editor, "specs/a.yaml", text)
    assert "repoURL" in labels(editor, "stowplan.yaml", "argocd:\n  |\n")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (HEAD.replace("SampleSet", "SampleJob") + "  type: |\n", {"sync", "warmup", "rmr", "clear"}),
        (HEAD + "  partitions: 1\n  noSync: |\n", {"true", "false"}),
        ("kind: SampleSet\napiVersion: |\n", {"batch.paddlepaddle.org/v1alpha1"}),
    ],
)
def test_values_are_completed(editor: Editor, text: str, wanted: set[str]) -> None:
    assert labels(editor, "specs/a.yaml", text) == wanted


def test_the_pointer_over_a_field_shows_what_it_is(editor: Editor) -> None:
    text = editor.hover("specs/a.yaml", HEAD + "  parti|tions: 2\n").replace("\\", "")
    assert fields_of("sampleset", "spec")["partitions"] in text
    assert fields_of("platform")["names"] in editor.hover("stowplan.yaml", "na|mes: upstream\n").replace("\\", "")


def fields_of(kind: str, *path: str) -> dict[str, str]:
    """The fields below a path of a kind, with their descriptions."""
    schema = json.loads(export.schemas()[f"{kind}.schema.json"])
    for part in path:
        schema = schema["properties"][part]
    return {name: field["description"] for name, field in schema["properties"].items()}
