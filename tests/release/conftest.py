"""What tests of the workflow share."""

from tests.release.workflow import checkout

__all__ = ["checkout"]
