"""A node whose pods really run: containers by Podman from images built here, claims by JuiceFS.

It does the work of a kubelet as far as compiled pods need it. A real kubelet would need a container runtime that pulls
images, and a CSI driver.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.agents.cache.csi import ClaimedMount, volume
from tests.agents.image_builder import Builder
from tests.agents.pods import IMAGE
from tests.cluster import nodes
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.podman_life import LOOK_SECONDS, PodLife, now
from tests.cluster.podman_pod import PodmanPod, secret_data
from tests.cluster.processes import Processes

HEARTBEAT_SECONDS = 10


@dataclass
class PodmanNode:
    """A node of this name; all its files are below the folder, and what its pods keep on the node below `root`."""

    cluster: Cluster
    builder: Builder
    name: str
    folder: Path
    root: Path
    edit: Callable[[str], str] = str
    faults: list[str] = field(default_factory=list)
    """What went wrong in the node itself, or in pods that are to run for ever."""
    _mounts: dict[str, ClaimedMount] = field(default_factory=dict)
    _mounter: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    """The thread that starts all mounts. Linux kills a mount's process with the thread that started it, so the thread
    of a pod must not start one that other pods use too."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: dict[str, threading.Thread] = field(default_factory=dict)

    @contextmanager
    def running(self) -> Iterator["PodmanNode"]:
        """Joins the cluster until the block ends; its pods end with it."""
        self.cluster.admin.create(_node(self.name))
        look = threading.Thread(target=self._look, daemon=True)
        try:
            self._beat()
            look.start()
            yield self
        finally:
            self._stop.set()
            for thread in (look, *self._threads.values()):
                if thread.ident:
                    thread.join(60)
            for mount in self._mounts.values():
                mount.stop()
            self._mounter.shutdown()
            self.cluster.admin.delete(ref("v1", "Node", self.name))

    def log(self, pod: str, container: str) -> str:
        """What a container has written so far."""
        return (self.folder / pod / f"{container}.log").read_text(encoding="utf-8")

    def mount(self, namespace: str, claim: str) -> Path:
        """Mounts the volume of a claim, once; gives the place."""
        return self._mounter.submit(self._mount, namespace, claim).result()

    def _mount(self, namespace: str, claim: str) -> Path:
        admin = self.cluster.admin
        name = admin.get(ref("v1", "PersistentVolumeClaim", claim, namespace))["spec"]["volumeName"]
        if name not in self._mounts:
            spec = admin.get(ref("v1", "PersistentVolume", name))["spec"]
            wanted = spec["csi"]["nodePublishSecretRef"]
            secret = secret_data(admin.get(ref("v1", "Secret", wanted["name"], wanted["namespace"])))
            folder = self.folder / "claims" / name
            of = volume(self.builder.client, folder, secret)
            self._mounts[name] = ClaimedMount(of, folder, spec["mountOptions"], root=self.root)
            self._mounts[name].start()
        return self._mounts[name].path

    def _beat(self) -> None:
        at = now()
        ready = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": at}
        status = {"conditions": [{**ready, "lastHeartbeatTime": at}]}
        self.cluster.admin.patch(ref("v1", "Node", self.name), {"status": status}, subresource="status")

    def _look(self) -> None:
        """Starts pods that are new here. Nothing but the end of the tests ends it."""
        count = 0
        while not self._stop.wait(LOOK_SECONDS):
            count += 1
            try:
                if count * LOOK_SECONDS % HEARTBEAT_SECONDS == 0:
                    self._beat()
                for pod in self._pods():
                    self._begin(pod)
            except Exception as error:
                self.faults.append(repr(error))

    def _pods(self) -> list[Manifest]:
        selected = {"fieldSelector": f"spec.nodeName={self.name}"}
        found: list[Manifest] = self.cluster.admin.request("GET", "/api/v1/pods", parameters=selected)["items"]
        return [{"apiVersion": "v1", "kind": "Pod", **each} for each in found]

    def _begin(self, pod: Manifest) -> None:
        uid = pod["metadata"]["uid"]
        if uid not in self._threads:
            self._threads[uid] = threading.Thread(target=self._play, args=(pod,), daemon=True)
            self._threads[uid].start()

    def _play(self, pod: Manifest) -> None:
        """The life of a pod, until it is deleted."""
        folder = self.folder / pod["metadata"]["name"]
        folder.mkdir(exist_ok=True)
        made = PodmanPod(self.cluster, pod, folder, self.mount, self.edit)
        life = PodLife(made, Processes(folder, grace=20), self.builder.podman, self._image, self._stop)
        try:
            life.live()
        except Exception as error:
            self.faults.append(f"{pod['metadata']['name']}: {error!r}")
        finally:
            life.end()

    def _image(self, name: str) -> str:
        """The image that stands for this one. Those of users are Python alone."""
        found = IMAGE.search(name)
        with self._lock:
            return self.builder.image(found[1]) if found else self.builder.runtime


def _node(name: str) -> Manifest:
    """As those that KWOK plays, without the label that makes it play them."""
    made = nodes.node(name)
    labels = made["metadata"]["labels"]
    made["metadata"]["labels"] = {key: value for key, value in labels.items() if key.startswith("kubernetes.io/")}
    return made
