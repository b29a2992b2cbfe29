"""go-jsonnet in the process: one evaluation for 20 specs, one file of JSON for each spec. No checks."""

import json

from _gojsonnet import evaluate_file  # type: ignore[import-not-found]
from inputs import FILES, OUT, batches, write  # type: ignore[import-not-found]

BATCH = 20
"""The fastest. One for each spec takes twice as long and more, one for all of them gigabytes."""

OUT.mkdir()
template = str(FILES / "template.jsonnet")
for batch in batches(BATCH):
    texts = json.loads(evaluate_file(template, tla_codes={"specs": json.dumps([values for _, values in batch])}))
    for (name, _), text in zip(batch, texts, strict=True):
        write(name, text)
