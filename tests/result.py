"""Keep the result of a run in a file of the repository: `pytest -p tests.result --result FILE --part NAME`.

The file has a section for each part, and a run replaces that of its own. `.ci/results.py` reads it before a release.
"""

import os
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--result", type=Path, metavar="FILE", help="write the result of this run into FILE")
    parser.addoption("--part", default="all", metavar="NAME", help="the section of the file, by default 'all'")


def pytest_configure(config: pytest.Config) -> None:
    """Processes of xdist do not write."""
    file = config.getoption("--result")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Result(file, config.getoption("--part"), _commit()))


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], text=True).strip()


def _commit() -> str:
    """The commit that is tested. It is not enough to name what is tested if files of it are changed."""
    changed = [line for line in _git("status", "--porcelain").splitlines() if not line.endswith("RESULT.md")]
    return f"{_git('rev-parse', 'HEAD')}{' with changes' if changed else ''}"


@dataclass
class Folder:
    """What the tests of a folder came to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    """Of all tests one after the other, with their fixtures."""


@dataclass
class Result:
    """The plugin that collects and writes the result."""

    file: Path
    part: str
    commit: str
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    folders: defaultdict[str, Folder] = field(default_factory=lambda: defaultdict(Folder))
    failures: dict[str, str] = field(default_factory=dict)
    """The first line of what each failure says, by test."""
    skips: Counter[str] = field(default_factory=Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = self.folders[report.nodeid.partition("::")[0].rpartition("/")[0]]
        folder.seconds += report.duration
        if report.failed:
            self._fail(report)
        if report.skipped:
            self.skips[report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)] += 1
        if report.when == "call" or not report.passed:
            folder.outcomes[report.outcome] += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._fail(report)

    def _fail(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        crash = getattr(report.longrepr, "reprcrash", None)
        lines = (crash.message if crash else report.longreprtext).strip().splitlines()
        self.failures[report.nodeid] = lines[0] if lines else "no report"

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        sections = self.file.read_text().split("\n## ")[1:] if self.file.exists() else []
        others = [each for each in sections if each.partition("\n")[0] != self.part]
        text = "\n## ".join(["# Results\n", *sorted([*others, self._section(exitstatus)])])
        self.file.write_text(f"{text.rstrip()}\n")

    def _section(self, status: int) -> str:
        passed = "Passed" if status == 0 and not self.failures else f"Failed with exit code {status}"
        minutes = (datetime.now(UTC) - self.begun).total_seconds() / 60
        lines = [
            self.part,
            "",
            f"- {passed}",
            f"- Commit: {self.commit}",
            f"- Begun: {self.begun:%Y-%m-%d %H:%M} UTC, on {os.cpu_count()} cores",
            f"- Minutes: {minutes:.1f}",
            "",
            "| Folder | Passed | Failed | Skipped | Minutes, one after the other |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {name} | {each.outcomes['passed']} | {each.outcomes['failed']} | {each.outcomes['skipped']} "
            f"| {each.seconds / 60:.1f} |"
            for name, each in sorted(self.folders.items())
        ]
        lines += ["", *(f"- Failed: `{name}`: {line}" for name, line in sorted(self.failures.items()))]
        lines += [f"- Skipped {count}: {reason}" for reason, count in sorted(self.skips.items())]
        return "\n".join(lines).rstrip() + "\n"
