"""The dataset at the start of hostile specs, and its diagnostics."""

from pathlib import Path

from tests.repositories import compiled

DATASET = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: ml}
spec:
  partitions: 1
  noSync: true
  secretRef: {name: volume}
"""


def codes(folder: Path, text: str) -> set[str]:
    """The codes of the errors when the specs in `text` are compiled in the empty folder."""
    return {found.code for found in compiled(folder, {"data.yaml": text}).errors}
