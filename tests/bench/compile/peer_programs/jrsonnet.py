"""jrsonnet in the process."""

from jsonnet_batches import write_all  # type: ignore[import-not-found]
from rjsonnet import evaluate_file  # type: ignore[import-not-found]

write_all(evaluate_file)
