"""The part of JuiceFS's CSI driver on a node: it creates the volume of a Secret, and mounts it by its PV.

As in the community edition, the client runs under the name of a mount helper, as a process in the foreground. It gets
the PV's `mountOptions` unchanged.
"""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.agents.cache.volume import Mount, Store, Volume

HELPER = "mount.juicefs"
CACHE = "cache-dir"
OF_TESTS = ("metrics=127.0.0.1:0", "backup-meta=0", "no-usage-report")
"""What the driver is told once for all volumes."""


def volume(program: Path, folder: Path, secret: Mapping[str, str]) -> Volume:
    """The volume of a Secret."""
    address = urlsplit(secret["metaurl"])
    metadata = address._replace(netloc=f"{address.hostname}:{address.port}").geturl()
    keys = (secret.get("access-key", ""), secret.get("secret-key", ""))
    store = Store(secret["storage"], secret["bucket"], *keys)
    return Volume(program, folder, metadata, store, address.password or "", secret["name"])


@dataclass
class ClaimedMount(Mount):
    """A PV on a node, whose file system is below `root`. `options` are those of the PV."""

    root: Path = Path("/")

    def start(self) -> None:
        """Makes the volume if it is not there, and mounts it."""
        self.volume.format()
        helper = self.folder / HELPER
        helper.symlink_to(self.volume.program)
        variables = self.volume.environment | {"JFS_FOREGROUND": "1", "JFS_SUPERVISOR": "1"}
        environment = ["-i", *(f"{key}={value}" for key, value in variables.items())]
        options = ",".join((*_on_node(self.options, self.root), *OF_TESTS))
        client = self._processes.start(
            Path("/usr/bin/env"),
            [*environment, str(helper), self.volume.metadata, str(self.path), "-o", options],
            name="juicefs",
        )
        client.await_ready(self._is_mounted, 60)
        # A kubelet keeps its mounts where containers can follow them.
        subprocess.run(["mount", "--make-shared", self.path], check=True)


def _on_node(options: Sequence[str], root: Path) -> list[str]:
    """The options with the cache where the node has it."""
    found = []
    for option in options:
        name, _, value = option.partition("=")
        folders = [f"{root}{each}" for each in value.split(":")]
        found.append(f"{name}={':'.join(folders)}" if name == CACHE else option)
    return found
