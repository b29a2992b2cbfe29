"""The name of Argo CD's objects in the platform file of the starter, made from the names of the repository."""

import os
import re
from pathlib import Path
from unicodedata import normalize

from stowplan.compiler.git.work_tree import top_of
from stowplan.compiler.repository.work_tree import remote_name
from stowplan.library.values.names import content_hash, shorten

LIMIT = 30
"""Number of characters of the longest name: environments, clusters, namespaces and hashes are appended to it."""


def derived(folder: Path) -> str:
    """Return a name for the repository in `folder`, which need not exist: a DNS label of at most `LIMIT` characters.

    In a Git work tree it is that of its remote repository, else of its top folder, with the path of `folder` in it:
    `data-vision` for the folder `vision` of https://git.example.com/ml/data.git. Elsewhere it is that of the folder.
    """
    real = Path(os.path.realpath(folder))
    top = top_of(real) or real
    words = "-".join([remote_name(top) or top.name, *real.relative_to(top).parts])
    ascii_only = normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    label = re.sub("[^a-z0-9]+", "-", ascii_only).strip("-")
    return shorten(label or f"data-{content_hash(ascii(words))}", LIMIT)
