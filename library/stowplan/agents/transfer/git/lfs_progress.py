"""How far Git LFS is: it writes lines to a file."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from stowplan.agents.attempt.progress import Progress


@dataclass
class LfsProgress:
    """Lines are `download 1/10 4096/65536 name`: which file of how many, bytes of it, and how many it has."""

    path: Path
    progress: Progress
    _at: int = 0
    _done: dict[bytes, int] = field(default_factory=dict)

    def look(self) -> None:
        """Counts what is new."""
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(self._at)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._at += len(line)
                self._count(line)

    def _count(self, line: bytes) -> None:
        fields = line.split(b" ", 3)
        part = fields[2].partition(b"/")[0] if len(fields) == 4 else b""
        if fields[0] in (b"download", b"upload") and part.isdigit():
            before = self._done.get(fields[3], 0)
            self._done[fields[3]] = int(part)
            self.progress.add(size=int(part) - before)
