"""A Dataset whose files the tests see on both sides."""

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

from tests.agents.transfer.server import Storage
from tests.cluster.client import Manifest, ref
from tests.nightly.node import claims
from tests.nightly.node.delivery import STOWPLAN
from tests.nightly.node.faults.faulty import NAMESPACE
from tests.nightly.node.place import Place

FILES, SIZE = 100, 2 << 20


@dataclass(frozen=True)
class Copied:
    """A Dataset in a claim on the first node."""

    spec: Manifest
    folder: Path
    """Of the claim, as the tests see it."""
    content: dict[str, str]
    """Digests of the objects of its source."""

    def found(self) -> dict[str, str]:
        """Digests of the files that are whole: the agent moves them to their names in the end."""
        return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in self._files()}

    def inodes(self) -> set[int]:
        return {each.stat().st_ino for each in self._files()}

    def _files(self) -> list[Path]:
        return sorted(self.folder.rglob("*.bin"))


def dataset(place: Place, bucket: Storage, name: str, size: int = SIZE) -> Copied:
    """A Dataset that copies a prefix of the bucket with the keys of its Secret, which is not there yet."""
    folder = claims.volume(place.nodes[0], NAMESPACE, name)
    chance = random.Random(name)  # noqa: S311 - the same in each run
    content = {f"{number}.bin": chance.randbytes(size) for number in range(FILES)}
    bucket.put({f"{name}/{key}": data for key, data in content.items()})
    source = {"uri": f"s3://{bucket.bucket}/{name}/", "endpoint": bucket.endpoint, "secretRef": {"name": name}}
    spec = {"source": {"s3": source}, "volume": {"claim": {"template": claims.template()}}}
    digests = {key: hashlib.sha256(data).hexdigest() for key, data in content.items()}
    return Copied({**ref(STOWPLAN, "Dataset", name, NAMESPACE), "spec": spec}, folder, digests)
