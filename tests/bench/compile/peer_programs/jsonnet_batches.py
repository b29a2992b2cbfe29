"""Common part of both Jsonnet programs: one evaluation for some specs, one JSON file for each spec. No checks."""

import json
from collections.abc import Callable

from inputs import FILES, OUT, batches, write  # type: ignore[import-not-found]

BATCH = 20
"""The fastest. One for each spec takes twice as long and more, one for all of them gigabytes."""


def write_all(evaluate_file: Callable[..., str]) -> None:
    """Evaluate the template for all specs."""
    OUT.mkdir()
    template = str(FILES / "template.jsonnet")
    for batch in batches(BATCH):
        texts = json.loads(evaluate_file(template, tla_codes={"specs": json.dumps([values for _, values in batch])}))
        for (name, _), text in zip(batch, texts, strict=True):
            write(name, text)
