"""Fixtures of the tests with a starter repository."""

from tests.starter.fixtures import begun, hooked, hooks, installations, runner, service, services, template

__all__ = ["begun", "hooked", "hooks", "installations", "runner", "service", "services", "template"]
