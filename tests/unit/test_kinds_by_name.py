"""A kind says itself what it is: nobody else asks for it by name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.library.dialects.registry import DIALECTS
from stowplan.schema.kinds.table import KINDS

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("schema/**/*.py"), *ROOT.glob("library/**/*.py"), *ROOT.glob("compiler/**/*.py")]

MODELS = frozenset(kind.model.__module__ for kind in KINDS.values())
PACKAGES = frozenset(each.lower.__module__.rpartition(".")[0] for each in map(DIALECTS.__getitem__, KINDS))
NAME = re.compile(rf"({'|'.join(KINDS)})(/.*)?", re.DOTALL)

OWN = (
    "schema/stowplan/schema/kinds/native/",
    "library/stowplan/agents/reporter/rules/",
    "compiler/stowplan/compiler/migrate/",
    *(f"schema/{each.replace('.', '/')}" for each in MODELS),
    *(f"library/{each.replace('.', '/')}/" for each in PACKAGES),
)
"""Where kinds are: models with their parts, dialects and reporter rules, and what turns old kinds into new ones."""

_AGENT = (
    "An agent knows the kind of the resource that it works for; it has no dialects, whose package is not in its image."
)

EXCEPTIONS = {
    "schema/stowplan/schema/kinds/table.py": "The table of kinds.",
    "library/stowplan/library/dialects/shared/context.py": "Look-ups of datasets with the type of their model.",
    "library/stowplan/library/constructs/generated/kinds.py": "A class for each kind, for programs of users.",
    "library/stowplan/library/constructs/specs.py": "Datasets can be mounted in programs of users.",
    "compiler/stowplan/compiler/generate/props.py": "It writes which constructs are datasets that can be mounted.",
    "library/stowplan/library/constructs/generated/props.py": "The fields of each kind, for programs of users.",
    "library/stowplan/library/drivers/juicefs/tasks.py": "A word that committed runs of SampleSets alone have.",
    "library/stowplan/agents/cache/status.py": _AGENT,
    "library/stowplan/agents/cache/drivers/juicefs/tasks/survey.py": _AGENT,
    "library/stowplan/agents/cache/drivers/juicefs/tasks/sync.py": _AGENT,
    "library/stowplan/agents/reporter/objects/cache.py": _AGENT,
    "library/stowplan/agents/transfer/command.py": _AGENT,
    "library/stowplan/agents/transfer/files/brought.py": _AGENT,
    "library/stowplan/agents/transfer/run.py": _AGENT,
    "library/stowplan/agents/transfer/status.py": _AGENT,
    "compiler/stowplan/compiler/committed/copies.py": "Copies of outputs follow a committed run, by their label.",
    "compiler/stowplan/compiler/lowering/output_layout.py": "The same copies, by their label.",
}
"""The reason why a file may name kinds."""


def named(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that name a kind: in a string, or by an import of its model or of its dialect."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in texts:
            if isinstance(node.value, str) and NAME.fullmatch(node.value):
                yield node.lineno
        elif isinstance(node, ast.ImportFrom):
            if any(map(_is_of_a_kind, (str(node.module), *(f"{node.module}.{each.name}" for each in node.names)))):
                yield node.lineno
        elif isinstance(node, ast.Import) and any(_is_of_a_kind(each.name) for each in node.names):
            yield node.lineno


def _is_of_a_kind(module: str) -> bool:
    model = any(module == each or module.startswith((f"{each}.", f"{each}_")) for each in MODELS)
    return model or any(module == each or module.startswith(f"{each}.") for each in PACKAGES)


def test_no_kind_is_named_outside_of_what_it_is() -> None:
    found: dict[str, list[int]] = {}
    for path in SOURCES:
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(OWN):
            lines = list(named(ast.parse(path.read_bytes())))
            found |= {place: lines} if lines else {}
    assert {place: lines for place, lines in found.items() if place not in EXCEPTIONS} == {}
    assert sorted(EXCEPTIONS.keys() - found.keys()) == []


@pytest.mark.parametrize(
    "planted",
    [
        "if kind == 'Training': pass",
        "FIELDS = {'SampleSet': 1}",
        "match kind:\n    case 'MxJob': pass",
        "owner = f'Dataset/{name}'",
        "from stowplan.schema.kinds.paddle_job import PaddleJob",
        "from stowplan.schema.kinds.native.training import ROLE",
        "from stowplan.schema.kinds import data_cube",
        "import stowplan.schema.kinds.sample_set_status",
        "from stowplan.library.dialects.training_job.fields import written",
        "from stowplan.library.dialects import mx_job",
    ],
)
def test_a_planted_name_is_found(planted: str) -> None:
    assert list(named(ast.parse(planted)))


@pytest.mark.parametrize(
    "text",
    [
        "'''Training'''",
        "x = 1  # Training",
        "message = 'A Training waits.'",
        "from stowplan.schema.kinds.table import KINDS",
        "from stowplan.library.dialects.training_group import waiting",
        "from stowplan.library.ir.training import TrainingGroup",
    ],
)
def test_other_text_is_no_name(text: str) -> None:
    assert not list(named(ast.parse(text)))
