"""All commands of a process of the tests are served by one Node.js, as those of `watch` are.

Else each starts its own.
"""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING
from unittest.mock import patch

from stowplan.compiler.lowering.composer_pool import ComposerPool

if TYPE_CHECKING:
    from stowplan.library.composition.rendering import Composer

_start = ComposerPool._started


@cache
def _node(process: int) -> "Composer":
    """Of this process: what the compiler forks starts its own, since two cannot ask one."""
    pool = ComposerPool()
    atexit.register(pool.close)
    return _start(pool)


@contextmanager
def one_node() -> Iterator[None]:
    with patch.object(ComposerPool, "_started", lambda self: self._composer or _node(os.getpid())):
        yield
