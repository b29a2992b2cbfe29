"""Every module with a check is registered."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from stowplan.compiler.checks import across_specs, per_spec, pods, spec_stage
from stowplan.compiler.checks.across_specs.registry import CHECKS, CrossSpecCheck


def modules_with_a_check(package: ModuleType) -> Iterator[ModuleType]:
    for info in iter_modules(package.__path__, f"{package.__name__}."):
        module = import_module(info.name)
        if hasattr(module, "check"):
            yield module


def test_every_check_across_specs_is_registered() -> None:
    registered = {check.check.__module__ for check in CHECKS}
    assert registered == {module.__name__ for module in modules_with_a_check(across_specs)}


def test_every_check_of_a_spec_is_part_of_its_stage() -> None:
    used = {value.__name__ for value in vars(spec_stage).values() if isinstance(value, ModuleType)}
    for package in (per_spec, pods):
        assert used >= {module.__name__ for module in modules_with_a_check(package)}


def test_each_check_with_facts_collects_them_itself() -> None:
    collecting = [check for check in CHECKS if check.collect.__module__ != CrossSpecCheck.__module__]
    assert collecting
    assert all(check.collect.__module__ == check.check.__module__ for check in collecting)
