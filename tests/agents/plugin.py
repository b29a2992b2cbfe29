"""The summary of the images at the end of a test run."""

import pytest

LAYERS = "layer of an image"
"""Property of a test: a line about one layer."""


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The sizes of our layers, unpacked."""
    reports = [each for group in terminalreporter.stats.values() for each in group]
    recorded = [each for each in reports if isinstance(each, pytest.TestReport) and each.when == "call"]
    lines = [value for report in recorded for name, value in report.user_properties if name == LAYERS]
    if lines:
        terminalreporter.section("layers of the images, unpacked")
        for line in lines:
            terminalreporter.write_line(str(line))
