"""A server that does what a store of another provider does, and transfers with it."""

from tests.hostile.s3.conftest import client, cube, server

__all__ = ["client", "cube", "server"]
