"""A node's cache directory is mounted read-write into a privileged pod: it is never a system directory."""

from pathlib import Path

import pytest

from tests.repositories import compiled

PLATFORM = """\
kind: Platform
images: {registry: registry.example.com/ml, tag: "1"}
"""


def dataset(path: str | None) -> str:
    cache = f"  cache: {{levels: [{{path: '{path}', cacheSize: 1}}]}}\n" if path else ""
    return (
        "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleSet\nmetadata: {name: data, namespace: ml}\n"
        "spec:\n  partitions: 1\n  noSync: true\n  secretRef: {name: volume}\n" + cache
    )


def codes(folder: Path, path: str | None, allowed: str = "") -> set[str]:
    platform = PLATFORM + (f"juicefs: {{cacheDirectories: {allowed}}}\n" if allowed else "")
    return {found.code for found in compiled(folder, {"data.yaml": f"{platform}---\n{dataset(path)}"}).errors}


SYSTEM = """
    /etc /etc/kubernetes/manifests /usr/local/bin /bin /sbin /lib /lib64 /lib/systemd /boot /proc /sys /root /root/.ssh
    /home /home/ml /run /run/containerd /dev /dev/sda /var/run /var/log /var/log/pods /var/lib/kubelet
    /var/lib/kubelet/pods /var/lib/containerd /var/lib/docker /var/lib/containers /var/lib/etcd /var/lib/rancher
    /var/lib/juicefs /var/spool/cron /opt/cni/bin /var/cache/apparmor /var/cache/ldconfig /var/lib/cloud /var/backups
""".split()
ABOVE = ["/var", "/var/cache", "/var/cache/", "/var/lib", "/opt", "/var/spool"]
DISGUISED = ["//etc", "/etc/", "/./etc", "/dev/./sda", "/usr//local/bin/", "/dev//shm/../../etc", "/data:/etc"]


@pytest.mark.parametrize("path", [*SYSTEM, *ABOVE, *DISGUISED])
def test_a_directory_of_the_system_is_refused(tmp_path: Path, path: str) -> None:
    assert codes(tmp_path, path) & {"SP405", "SP458"}


@pytest.mark.parametrize("path", ["/", "//", "/.", "/data/..", "/data/../etc"])
def test_the_root_is_refused(tmp_path: Path, path: str) -> None:
    assert codes(tmp_path, path) == {"SP405"}


USUAL = """
    /dev/shm /dev/shm/imagenet /data/a:/data/b /mnt/nvme0/jfs /var/jfsCache /var/cache/mnist /var/lib/stowplan/x /ssd
    /var/cache/mnist-2 /var/caches /etcetera /library /homes/x /var/logs /opt/cache /tmp/cache
""".split()


@pytest.mark.parametrize("path", USUAL)
def test_other_directories_are_taken(tmp_path: Path, path: str) -> None:
    assert codes(tmp_path, path) == set()


@pytest.mark.parametrize("path", ["/data", "/data/a", "//data//a/", "/var/cache/x:/data/y"])
def test_a_directory_of_the_platforms_list_is_taken(tmp_path: Path, path: str) -> None:
    assert codes(tmp_path, path, "[/data, /var/cache/]") == set()


@pytest.mark.parametrize("path", ["/database", "/mnt/a", "/data/a:/mnt/b", None])
def test_a_directory_outside_the_platforms_list_is_refused(tmp_path: Path, path: str | None) -> None:
    """Also the default directory, which is in memory."""
    assert codes(tmp_path, path, "[/data, /var/cache/]") == {"SP458"}


def test_the_list_may_have_the_folder_of_caches(tmp_path: Path) -> None:
    """As that of the starter. It is for directories below it: the folder itself is the system's."""
    assert codes(tmp_path, "/var/cache/data", "[/var/cache]") == set()
    assert codes(tmp_path, "/var/cache", "[/var/cache]") == {"SP458"}


def test_the_list_does_not_open_a_directory_of_the_system(tmp_path: Path) -> None:
    assert "SP458" in codes(tmp_path, "/etc/cache", "[/]")


@pytest.mark.parametrize("entry", ["data", "/data/../etc", "/a b", "/etc", "''"])
def test_an_entry_of_the_list_that_cannot_be(tmp_path: Path, entry: str) -> None:
    assert codes(tmp_path, "/data/a", f"[/data, {entry}]") & {"SP206", "SP458"}
