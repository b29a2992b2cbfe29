"""Records of objects hold only what some agent reads."""

import ast
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from stowplan import agents
from stowplan.agents.reporter.objects import pods, resources, workloads


def names_read() -> set[str]:
    sources = [path for each in agents.__path__ for path in Path(each).rglob("*.py")]
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text()))]
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}


@pytest.mark.parametrize("module", [pods, resources, workloads], ids=lambda module: module.__name__)
def test_every_field_of_a_record_is_read(module: object) -> None:
    records = [each for each in vars(module).values() if isinstance(each, type) and is_dataclass(each)]
    unread = {f"{each.__name__}.{field.name}" for each in records for field in fields(each)} - {
        f"{each.__name__}.{name}" for each in records for name in names_read()
    }
    assert records
    assert unread == set()
