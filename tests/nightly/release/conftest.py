"""What tests of pushed images share."""

from tests.release.workflow import checkout

__all__ = ["checkout"]
