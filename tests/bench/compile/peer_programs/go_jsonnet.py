"""go-jsonnet in the process."""

from _gojsonnet import evaluate_file  # type: ignore[import-not-found]
from jsonnet_batches import write_all  # type: ignore[import-not-found]

write_all(evaluate_file)
