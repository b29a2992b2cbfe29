"""CRDs in a file of the package. Generating them from the models takes as long as a compilation."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = "generated/crds.json"
"""Path of the file in the package `stowplan.schema`, a JSON list with one CRD per line, sorted by kind.

`make generate` writes it, and a test compares it with the models.
"""


@cache
def custom_resource_definitions() -> tuple[dict[str, Any], ...]:
    """Return every CRD of Stowplan as plain data. The result is shared and must not be changed."""
    text = Path(__file__).parents[1].joinpath(FILE).read_text(encoding="utf-8")
    return tuple(json.loads(text))
