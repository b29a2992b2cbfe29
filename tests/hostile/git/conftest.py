"""The fixtures of the tests of Git repositories."""

from tests.agents.transfer.git.conftest import _programs, cube, forge, proxy, writer

__all__ = ["_programs", "cube", "forge", "proxy", "writer"]
