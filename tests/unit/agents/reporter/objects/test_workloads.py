"""Records of objects hold only what some agent reads."""

import ast
from dataclasses import fields, is_dataclass
from pathlib import Path

from stowplan import agents
from stowplan.agents.reporter.objects import pods, resources, workloads


def names_read() -> set[str]:
    sources = [path for each in agents.__path__ for path in Path(each).rglob("*.py")]
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text()))]
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}


def test_every_field_of_a_record_is_read() -> None:
    modules = [vars(module).values() for module in (pods, resources, workloads)]
    records = [[each for each in found if isinstance(each, type) and is_dataclass(each)] for found in modules]
    assert all(records)
    read = names_read()
    every = [(each, field.name) for found in records for each in found for field in fields(each)]
    assert [f"{each.__name__}.{name}" for each, name in every if name not in read] == []
