"""The programs of the cluster tests, pinned by the Go modules under `tests/tools`, and that of `library/images`."""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

MODULES = Path(__file__).parents[1] / "tools"
IMAGES = Path(__file__).parents[2] / "library" / "images"

VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
"""Where Kubernetes programs keep the version they report; its own build sets both by `-X`."""


@dataclass(frozen=True)
class Tool:
    """One Go module and the programs its `tool` lines build."""

    name: str
    """The folder of the module under `parent`."""
    module: str
    """The required Go module whose version is the version of the programs."""
    programs: tuple[str, ...]
    tags: tuple[str, ...] = ()
    """Build tags, which leave out what no test needs."""
    cgo: bool = False
    """Whether it is built with a C compiler; it is linked statically all the same."""
    files: tuple[str, ...] = ()
    """Files and folders of the module, such as CRDs, that are copied beside the programs."""
    parent: Path = MODULES

    @property
    def folder(self) -> Path:
        return self.parent / self.name

    @cached_property
    def version(self) -> str:
        """The pinned version with its leading `v`, from `go.mod`."""
        text = (self.folder / "go.mod").read_text(encoding="utf-8")
        found = re.search(rf"^(?:require)?\s*{re.escape(self.module)} (v\S+)", text, re.MULTILINE)
        if found is None:
            raise LookupError(f"{self.folder}/go.mod does not require {self.module}")
        return found[1]

    @property
    def minor(self) -> str:
        """The Kubernetes minor that the programs are of; empty when they are not of Kubernetes."""
        return self.name.rpartition("-")[2] if self.module == "k8s.io/kubernetes" else ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `go build`: no paths of this machine, no debug information, the real version.

        Without DWARF the compiler takes a fifth less time and cache (measured on etcd, Go 1.26).
        """
        link = ["-s", "-w"]
        if self.minor:
            major, minor, _ = self.version.removeprefix("v").split(".", 2)
            values = {
                "gitVersion": self.version,
                "gitMajor": major,
                "gitMinor": minor,
                "gitTreeState": "clean",
            }
            link += [f"-X={package}.{key}={value}" for package in VERSION_PACKAGES for key, value in values.items()]
        elif self.module == ARGOCD.module:
            link.append(f"-X={self.module}/common.version={self.version.removeprefix('v')}")
        if self.cgo:
            link += ["-linkmode=external", "-extldflags=-static"]
        tags = (f"-tags={','.join(self.tags)}",) if self.tags else ()
        return ("-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", f"-ldflags={' '.join(link)}", *tags)

    @cached_property
    def key(self) -> str:
        """Names one build in the cache: it moves when the pins, the flags or our own code move."""
        digest = hashlib.sha256(repr(self.flags + self.files).encode())
        for path in sorted(self.folder.iterdir()):
            digest.update(path.read_bytes())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"


ETCD = Tool("etcd", "go.etcd.io/etcd/server/v3", ("etcd",))
KWOK = Tool("kwok", "sigs.k8s.io/kwok", ("kwok",))
JOBSET = Tool("jobset", "sigs.k8s.io/jobset", ("jobset",))
KUEUE = Tool(
    "kueue",
    "sigs.k8s.io/kueue",
    ("kueue",),
    tags=("exclude_scheduler_library",),
    files=("config/components/crd/bases", "config/components/webhook/manifests.yaml"),
)
"""Without the library of a scheduler, which it uses only if told to."""
COSCHEDULING = Tool("coscheduling", "sigs.k8s.io/scheduler-plugins", ("coscheduling",))
"""A scheduler with one plug-in more than that of Kubernetes."""
ARGOCD = Tool("argocd", "github.com/argoproj/argo-cd/v3", ("argocd-controllers",))
"""The newest that Go 1.26 builds."""
VERSITYGW = Tool("versitygw", "github.com/versity/versitygw", ("versitygw",))
"""An S3 server on a directory, for the tests of the transfer agent."""
REGISTRY = Tool("registry", "github.com/distribution/distribution/v3", ("registry",))
"""A registry of images, for the tests of pins."""
ACTIONLINT = Tool("actionlint", "github.com/rhysd/actionlint", ("actionlint",))
"""A linter of GitHub's workflows, for those of `stowplan init`."""
JUICEFS_TAGS = ",".join(
    f"no{each}"
    for each in (
        "azure b2 badger bos cos dragonfly etcd gateway gs hdfs ibmcos mysql nfs obs oss pg qiniu qingstore sftp"
        " sqlite swift tikv ufile webdav"
    ).split()
)
"""What no test uses of the client: it keeps Redis for metadata, and S3, MinIO, Redis and directories for objects."""
JUICEFS = Tool(
    "juicefs",
    "github.com/juicedata/juicefs",
    ("juicefs",),
    tags=("netgo", "osusergo", "sqlite_omit_load_extension", *JUICEFS_TAGS.split(",")),
    cgo=True,
    parent=IMAGES,
)
"""The client, by the flags of `library/images/Containerfile`. Its compression needs C."""
KUBERNETES = {
    minor: Tool(
        f"kubernetes-{minor}",
        "k8s.io/kubernetes",
        ("kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    )
    for minor in ("1.35", "1.37")
}
"""The oldest and the newest supported minor."""
OLDEST, NEWEST = min(KUBERNETES), max(KUBERNETES)
KUBELET = Tool(f"kubelet-{NEWEST}", "k8s.io/kubernetes", ("kube-proxy", "kubectl", "kubelet"))
"""A module of its own, since few machines can run it: after the control plane it takes a minute to build."""
CNI = Tool("cni", "github.com/containernetworking/plugins", ("bridge", "host-local", "loopback"))
"""What gives pods their network."""
COREDNS = Tool("coredns", "github.com/coredns/coredns", ("coredns",))
"""Linked statically, as all of them: in its image there is nothing else."""

CSI = Tool("csi", "github.com/container-storage-interface/spec", ("csi",))
"""A stand-in for the CSI driver of JuiceFS."""


def control_plane(minor: str) -> tuple[Tool, ...]:
    """What every test on this Kubernetes minor needs."""
    return (ETCD, KUBERNETES[minor], KWOK)


LANDING = (*control_plane(NEWEST), JOBSET, VERSITYGW, REGISTRY, JUICEFS, ACTIONLINT)
TIERS = {
    "landing": LANDING,
    "nightly": (*LANDING, KUBERNETES[OLDEST], KUEUE, COSCHEDULING, ARGOCD, KUBELET, CNI, COREDNS, CSI),
}
"""What the tests of a tier need. What only measurements need is not here."""
