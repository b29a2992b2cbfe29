"""Forwarding of warnings that libraries log or raise to the log of the agent."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from stowplan.agents.runtime.log import Log

_LOGGERS = ("huggingface_hub", "py.warnings")


class _Forward(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning(" ".join(record.getMessage().split()), library=record.name.partition(".")[0])


@contextmanager
def forwarded(log: Log) -> Iterator[None]:
    """During the block, forward warnings of huggingface_hub and of Python's module `warnings` to the agent's log."""
    handler = _Forward(log)
    logging.captureWarnings(capture=True)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
    try:
        yield
    finally:
        logging.captureWarnings(capture=False)
