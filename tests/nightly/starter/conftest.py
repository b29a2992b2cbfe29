"""The fixtures are those of `tests/starter`."""

from tests.starter.fixtures import begun, hooked, hooks, installations, runner, template

__all__ = ["begun", "hooked", "hooks", "installations", "runner", "template"]
