"""What a run of a lineage trains with: its image, and what was last copied into its datasets."""

import threading
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.runtime.timestamp import now
from stowplan.schema.agents.lineage import LineageConfig, LineageDataset, LineageMarker
from stowplan.schema.agents.marker import COMPLETE_FILE

LOOK_SECONDS = 10.0
"""Maximum seconds to read the markers of datasets: a mount may hang, and training must not wait for that."""


def marker(config: LineageConfig, run: str) -> LineageMarker:
    """Return the marker of the run with this name. Datasets whose state cannot be read have no revision in it."""
    found: dict[str, LineageDataset] = {}
    places = {name: path for name, _, path in (each.partition("=") for each in config.datasets)}

    def look() -> None:
        for name, path in places.items():
            found[name] = _dataset(name, Path(path))

    reading = threading.Thread(target=look, daemon=True)
    reading.start()
    reading.join(LOOK_SECONDS)
    datasets = [found.get(name, LineageDataset(name=name)) for name in places]
    return LineageMarker(
        lineage=config.lineage, run=run, spec=config.spec, image=config.image, datasets=datasets, began=now()
    )


def _dataset(name: str, root: Path) -> LineageDataset:
    try:
        complete = safe_files.json_object(safe_files.read(root, COMPLETE_FILE)) or {}
    except OSError:
        complete = {}
    run, revision = complete.get("run"), complete.get("revision")
    return LineageDataset(
        name=name,
        run=run if isinstance(run, str) else None,
        revision=revision if isinstance(revision, str) else None,
    )
