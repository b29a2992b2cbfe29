"""Rules for the directories of a cluster node that may be a cache.

The CSI driver mounts each of them read-write from the cluster node into a privileged container, at the same path. A
system directory there would give every writer of the dataset control over the node.
"""

from collections.abc import Sequence

from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.juicefs.option_forms import PATH

SYSTEM = tuple(
    """
    /bin /boot /dev /efi /etc /home /proc /root /run /sbin /snap /sys /sysroot /usr
    /lib /lib32 /lib64 /libexec /libx32
    /opt/bin /opt/cni /opt/containerd
    /var/backups
    /var/cache/apparmor /var/cache/apt /var/cache/debconf /var/cache/dnf /var/cache/fontconfig /var/cache/ldconfig
    /var/cache/libdnf5 /var/cache/man /var/cache/pacman /var/cache/private /var/cache/snapd /var/cache/yum /var/cache/zypp
    /var/crash
    /var/lib/NetworkManager /var/lib/apt /var/lib/calico /var/lib/cilium /var/lib/cloud /var/lib/cni /var/lib/containerd
    /var/lib/containers /var/lib/cri-dockerd /var/lib/crio /var/lib/dbus /var/lib/docker /var/lib/dockershim /var/lib/dpkg
    /var/lib/etcd /var/lib/juicefs /var/lib/k0s /var/lib/kube-proxy /var/lib/kube-router /var/lib/kubelet
    /var/lib/minikube /var/lib/pacman /var/lib/polkit-1 /var/lib/private /var/lib/rancher /var/lib/rpm /var/lib/snapd
    /var/lib/sudo /var/lib/systemd
    /var/log /var/mail /var/run /var/snap /var/spool
    """.split()
)
"""Directories of the system, of the kubelet, of container runtimes and of etcd.

None of them, and no directory below or above them, may be a cache: `/var/lib` includes `/var/lib/kubelet`, and
`/var/cache`, in which there is room for caches, those of package managers and of AppArmor. `/var/lib/juicefs` holds the
mounts of all volumes.
"""

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a path on the node
"""The only directory below `/dev` that may be a cache, and that may hold caches."""


def normal(directory: str) -> str:
    """Return an absolute path without empty and `.` parts and without a `/` at the end; `/` for the root."""
    return "/" + "/".join(part for part in directory.split("/") if part not in ("", "."))


def is_shared_memory(directory: str) -> bool:
    """Return whether an absolute path is `/dev/shm` or below it."""
    return _within(normal(directory), SHARED_MEMORY)


def findings(directory: str, path: FieldPath, allowed: Sequence[str]) -> list[Finding]:
    """Return a finding at `path` if `directory` may not be a cache, else an empty list.

    `allowed` is `juicefs.cacheDirectories` of the platform file; an empty list allows all but system directories.
    """
    clean = normal(directory)
    if not directory.startswith("/"):
        message = f'"{directory}" is not an absolute path of the node; several are joined by ":".'
        return [finding("SP405", path, message, "Give a path such as /data/cache.")]
    if not PATH.fits(directory):
        message = f"Found {directory!a}; allowed is {PATH.words}."
        return [finding("SP405", path, message, "Give a path without blanks, wildcards and other signs.")]
    if ".." in directory.split("/") or clean == "/":
        hint = "Name a directory for this cache alone, without `..`."
        return [finding("SP405", path, f'"{directory}" could be anything on the node.', hint)]
    if system := _system(clean):
        message = f'"{directory}" cannot be a cache: {system} belongs to the system of the node.'
        return [finding("SP458", path, message, "Give a directory for this cache alone, such as /data/cache.")]
    if allowed and not any(_within(clean, normal(prefix)) for prefix in allowed):
        message = f'"{directory}" is not in the directories that the platform allows: {", ".join(allowed)}.'
        hint = "Give a directory below one of them, or add it to `juicefs.cacheDirectories` in the platform file."
        return [finding("SP458", path, message, hint)]
    return []


def prefix_findings(prefix: str, path: FieldPath) -> list[Finding]:
    """Return a finding at `path` if `prefix`, an entry of `juicefs.cacheDirectories`, is invalid, else no finding."""
    if not prefix.startswith("/") or not PATH.fits(prefix) or ".." in prefix.split("/"):
        message = f"Found {prefix!a}; allowed is {PATH.words}, which begins with / and has no `..`."
        return [finding("SP206", path, message, "Give a directory such as /var/cache.")]
    clean = normal(prefix)
    if system := next((each for each in SYSTEM if _within(clean, each) and not _within(clean, SHARED_MEMORY)), None):
        message = f'No cache may be in "{prefix}": {system} belongs to the system of the node.'
        return [finding("SP458", path, message, "Remove it.")]
    return []


def _system(directory: str) -> str | None:
    """Return the system directory that is `directory`, above it or below it; None if there is none."""
    if is_shared_memory(directory):
        return None
    return next((each for each in SYSTEM if _within(directory, each) or _within(each, directory)), None)


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
