"""The CRDs as they are shipped: data that is generated from the models, since making it takes as long as a compilation."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = "generated/crds.json"
"""In the package `stowplan.schema`, one CRD a line, sorted by kind. `make generate` writes it, and a test holds it to the models."""


@cache
def custom_resource_definitions() -> tuple[dict[str, Any], ...]:
    """Plain data of every CRD of ours. It is shared: nobody may change it."""
    text = Path(__file__).parents[1].joinpath(FILE).read_text(encoding="utf-8")
    return tuple(json.loads(text))
