"""Result of an agent that has ended."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    """What the agent left behind."""

    code: int
    output: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.output.splitlines()]

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]

    def said(self, reason: str) -> list[str]:
        """Messages of the lines with this reason."""
        return [str(each["message"]) for each in self.events if each.get("reason") == reason]
