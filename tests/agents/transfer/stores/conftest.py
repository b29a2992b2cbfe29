"""A server that does what a store of another provider does, and transfers with it."""

from tests.hostile.s3.conftest import cube, server, wire

__all__ = ["cube", "server", "wire"]
