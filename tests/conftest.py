"""What all tests share."""

pytest_plugins = ["tests.cluster.plugin"]
