"""Typed commands and their output, without parts that vary from day to day."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_RUN = re.compile(
    r"(?:(?<=-sync-)|(?<=-warmup-0-)|(?<=-worker-)|(?<=-paddlejob-)|(?<=-gate-)|(?<=run-hash: ))[a-z2-7]{8}\b"
)
_MASKS = [
    (r"(?<![\w.])(?:\d+[dhms])+(?![\w.])", "<time>"),
    (r"(<run \d+>(?:-\d+)?)-[a-z0-9]{5}\b", r"\1-<pod>"),
    (r"(?<=reporter-)[a-f0-9]{8,10}-[a-z0-9]{5}\b", "<pod>"),
    (r"\b[0-9a-f]{7,40}\.\.[0-9a-f]{7,40}\b", "<commits>"),
    (r"(?<=[^\s+-]) {2,}", "  "),
    (r" +$", ""),
]


@dataclass
class Transcript:
    """What was typed in one folder, as Markdown."""

    folder: Path
    environment: Mapping[str, str]
    names: Mapping[str, str]
    """What to write instead of texts that only this run has."""
    lines: list[str] = field(default_factory=list)
    runs: dict[str, str] = field(default_factory=dict)
    """The hashes of runs, numbered as they came."""

    def say(self, text: str) -> None:
        """A paragraph."""
        self.lines += [text, ""]

    def run(self, command: str, *, code: int = 0) -> str:
        """Type a command that ends with this code; gives what it printed."""
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}"
        ending = [f"(exit code {code})"] if code else []
        self.lines += ["```console", *self._masked(f"$ {command}\n{done.stdout}").splitlines(), *ending, "```", ""]
        return done.stdout

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _masked(self, text: str) -> str:
        for found, name in self.names.items():
            text = text.replace(found, name)
        text = _RUN.sub(lambda found: self.runs.setdefault(found[0], f"<run {len(self.runs) + 1}>"), text)
        for pattern, name in _MASKS:
            text = re.sub(pattern, name, text, flags=re.MULTILINE)
        return text
