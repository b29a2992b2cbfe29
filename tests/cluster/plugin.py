"""The options of the cluster tests, and what the last lines of a test run say about them."""

from collections import Counter

import pytest

from tests.cluster.binaries import Found, find
from tests.cluster.tools import KUBERNETES, NEWEST, OLDEST, needed

FOLDER = "tests/cluster/"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-minors",
        action="store_true",
        help=f"run the cluster tests on Kubernetes {OLDEST} too, and build it if it is not cached",
    )


def minors(config: pytest.Config) -> list[str]:
    """The newest minor always; the oldest one when its programs are at hand or asked for."""
    at_hand = config.getoption("--all-minors", default=False) or all(find(tool) for tool in needed(OLDEST))
    return [OLDEST, NEWEST] if at_hand else [NEWEST]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Which programs were there and how long they took to build; what was skipped, and why."""
    reports = [report for group in terminalreporter.stats.values() for report in group if _is_ours(report)]
    if not reports:
        return
    terminalreporter.section("cluster")
    tools = dict.fromkeys(tool for minor in KUBERNETES for tool in needed(minor))
    for tool in tools:
        found = find(tool)
        terminalreporter.write_line(str(found) if isinstance(found, Found) else f"{tool.name} {tool.version} not built")
    skipped = Counter(_reason(report) for report in reports if report.skipped)
    for reason, count in sorted(skipped.items()):
        terminalreporter.write_line(f"skipped {count}: {reason}")
    if OLDEST not in minors(config):
        terminalreporter.write_line(
            f"not run: Kubernetes {OLDEST}, whose programs are not built; --all-minors builds them"
        )


def _is_ours(report: object) -> bool:
    return isinstance(report, pytest.TestReport | pytest.CollectReport) and report.nodeid.startswith(FOLDER)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """A skip's third part; its first two are file and line."""
    detail = report.longrepr
    return detail[2].removeprefix("Skipped: ") if isinstance(detail, tuple) else str(detail)
