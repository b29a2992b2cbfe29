"""The options of the cluster tests, and their summary at the end of a test run."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import pytest

from tests.cluster.binaries import find
from tests.cluster.tools import KUBERNETES, NEWEST, OLDEST, control_plane, needed

FOLDER = "tests/cluster/"

Recorder = Callable[[str, int | str], None]
"""The fixture `record_property`, as the summary wants it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-minors",
        action="store_true",
        help=f"run the cluster tests on Kubernetes {OLDEST} too, and build it if it is not cached",
    )
    parser.addoption(
        "--argocd",
        action="store_true",
        help=f"run the tests with Argo CD: many minutes; on Kubernetes {NEWEST}, with --all-minors on {OLDEST} too",
    )


def minors(config: pytest.Config) -> list[str]:
    """The newest minor always; the oldest one when its programs are at hand or asked for."""
    at_hand = config.getoption("--all-minors", default=False) or all(find(tool) for tool in control_plane(OLDEST))
    return [OLDEST, NEWEST] if at_hand else [NEWEST]


def argocd_minors(config: pytest.Config) -> list[str]:
    """The minors of the tests with Argo CD, to which the minor hardly matters."""
    return [OLDEST, NEWEST] if config.getoption("--all-minors", default=False) else [NEWEST]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Which programs there are and how long they took to build, what tests counted, what was skipped and why."""
    reports = [report for group in terminalreporter.stats.values() for report in group if _is_ours(report)]
    if not reports:
        return
    terminalreporter.section("cluster")
    for line in (*_builds(), *_counts(reports), *_lists(reports), *_skips(reports)):
        terminalreporter.write_line(line)
    if OLDEST not in minors(config):
        terminalreporter.write_line(f"Kubernetes {OLDEST}: not run, since not built; --all-minors builds and runs it")


def _is_ours(report: object) -> bool:
    return isinstance(report, pytest.TestReport) and report.nodeid.startswith(FOLDER)


def _builds() -> Iterator[str]:
    for tool in dict.fromkeys(tool for minor in KUBERNETES for tool in needed(minor)):
        found = find(tool)
        yield f"{tool.name} {tool.version} not built" if found is None else str(found)


def _counts(reports: list[pytest.TestReport]) -> Iterator[str]:
    """What tests recorded by `record_property` with a number; equal names are added up."""
    counts: Counter[str] = Counter()
    for name, value in _recorded(reports):
        if isinstance(value, int):
            counts[name] += value
    return (f"{name}: {count}" for name, count in sorted(counts.items()))


def _lists(reports: list[pytest.TestReport]) -> Iterator[str]:
    """What tests recorded by `record_property` with a text: how many there are, and each once."""
    lists: defaultdict[str, set[str]] = defaultdict(set)
    for name, value in _recorded(reports):
        if isinstance(value, str):
            lists[name].add(value)
    for name, texts in sorted(lists.items()):
        yield f"{name}: {len(texts)}"
        yield from textwrap.wrap(
            ", ".join(sorted(texts)), 118, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )


def _recorded(reports: list[pytest.TestReport]) -> Iterator[tuple[str, object]]:
    """Set-up and tear-down repeat what the test recorded, so they are left out."""
    return (recorded for report in reports if report.when == "call" for recorded in report.user_properties)


def _skips(reports: list[pytest.TestReport]) -> Iterator[str]:
    reasons = Counter(_reason(report) for report in reports if report.skipped)
    return (f"skipped {count}: {reason}" for reason, count in sorted(reasons.items()))


def _reason(report: pytest.TestReport) -> str:
    """A skip's third part; its first two are file and line."""
    detail = report.longrepr
    return detail[2].removeprefix("Skipped: ") if isinstance(detail, tuple) else str(detail)
