"""Whether a command runs in CI, where nobody reads its warnings."""

import os


def in_ci() -> bool:
    """Whether the environment variable CI is set, as GitHub, GitLab and most other services do."""
    return os.environ.get("CI", "").lower() not in ("", "false", "0")
