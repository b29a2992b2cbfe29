"""What all tests share."""

pytest_plugins = ["tests.agents.plugin", "tests.cluster.plugin"]
