"""Whether a command runs in CI, where nobody reads its warnings."""

import os


def in_ci() -> bool:
    """Whether the variable CI is set, as GitHub, GitLab and most other services do, and not to `0` or `false`."""
    return os.environ.get("CI", "").lower() not in ("", "false", "0")
