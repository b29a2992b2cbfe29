"""Formats and limits of names.

The limits are those of Kubernetes: 63 characters for a DNS label, a label value and any name that becomes one; 253 for
a DNS subdomain; 52 for a StatefulSet (its pods carry `<name>-<10 characters>` as a label value) and a CronJob (the
controller appends 11 characters to its Jobs' names).
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from stowplan.library.values.canonical_json import canonical
from stowplan.schema.meta import MOST_NODES

Profile = Literal["namespaced", "upstream"]

LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253
STATEFUL_SET_LIMIT = 52
CRON_JOB_LIMIT = 52
HASH_LENGTH = 8
_HASHED_BYTES = HASH_LENGTH * 5 // 8
"""Number of digest bytes that `HASH_LENGTH` characters of base32 encode."""

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = tuple(one + other for one in _BASE32 for other in _BASE32)
"""Two characters of base32 for each value of ten bits.

This table is several times as fast as the module `base64`, which matters since nearly every name has a hash.
"""

FILE_LIMIT = 200
"""Maximum length of a file name's variable part: file systems allow 255 bytes, including kind and suffix."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def is_dns_label(text: str) -> bool:
    """Return whether `text` is an RFC 1123 label: at most 63 lower-case letters, digits and `-`.

    The first and the last character must not be `-`.
    """
    return len(text) <= LABEL_LIMIT and _DNS_LABEL.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Return whether `text` is an RFC 1123 subdomain: labels joined by dots, at most 253 characters in total."""
    return len(text) <= SUBDOMAIN_LIMIT and _DNS_SUBDOMAIN.fullmatch(text) is not None


def content_digest(*values: Any) -> str:
    """Return the whole digest of plain data, `sha256:…`, of which `content_hash` has the beginning."""
    return f"sha256:{_digest(values).hex()}"


def content_hash(*values: Any) -> str:
    """Return eight lower-case base32 characters of a hash over the canonical JSON of plain data."""
    bits = int.from_bytes(_digest(values)[:_HASHED_BYTES])
    return "".join([_PAIRS[bits >> shift & 1023] for shift in (30, 20, 10, 0)])


def _digest(values: Any) -> bytes:
    return hashlib.sha256(canonical(values)).digest()


def shorten(name: str, limit: int) -> str:
    """Return `name` if it has at most `limit` characters, else its beginning and a hash of the whole name."""
    if len(name) <= limit:
        return name
    return f"{name[: limit - HASH_LENGTH - 1].rstrip('-.')}-{content_hash(name)}"


def with_hash(stem: str, suffix: str, limit: int = LABEL_LIMIT) -> str:
    """Return `<stem>-<suffix>`, with the stem, not the suffix, shortened so that it has at most `limit` characters."""
    return f"{shorten(stem, limit - len(suffix) - 1)}-{suffix}"


_HASH = re.compile(rf"-[a-z2-7]{{{HASH_LENGTH}}}\Z")


def without_hash(name: str) -> str:
    """Return `name` without the hash that `with_hash` appended; unchanged if it has none.

    Eight characters of base32 after the last `-` count as a hash, also a word such as `training`.
    """
    return _HASH.sub("", name)


def hash_of(name: str) -> str:
    """Return the hash that `with_hash` appended to `name`; empty if it has none. `without_hash` says what is a hash."""
    return name.rpartition("-")[2] if without_hash(name) != name else ""


@dataclass(frozen=True, slots=True)
class DatasetNames:
    """Names of the objects of one dataset. Claim, Service and StatefulSet have the same names as in paddle-operator.

    With the profile `upstream`, the volume also has its name and handle of paddle-operator. `word` is the kind of the
    spec in lower case.
    """

    namespace: str
    name: str
    profile: Profile
    word: str = "sampleset"

    @property
    def volume(self) -> str:
        """Name of the PersistentVolume: `<namespace>.<name>`. It is unique, since a namespace holds no dot."""
        if self.profile == "upstream":
            return self.name
        return shorten(f"{self.namespace}.{self.name}", LABEL_LIMIT)

    @property
    def volume_handle(self) -> str:
        """CSI volume handle. It equals the name: the CSI driver first looks for a volume with the handle as name."""
        return f"{self.namespace}-{self.name}" if self.profile == "upstream" else self.volume

    @property
    def claim(self) -> str:
        return self.name

    @property
    def runtime(self) -> str:
        """Name of the StatefulSet of the cache pods."""
        return f"{self.name}-runtime"

    @property
    def service(self) -> str:
        return f"{self.name}-runtime-service"

    def runtime_pod(self, ordinal: int) -> str:
        """Return the name of the cache pod with this number, from 0."""
        return f"{self.runtime}-{ordinal}"

    @property
    def base(self) -> str:
        """Name, or beginning of the name, of objects that paddle-operator did not create."""
        return f"{self.name}-{self.word}"

    @property
    def sync(self) -> str:
        """Name of the sync Job without its hash."""
        return f"{self.name}-sync"

    def warmup(self, partition: int) -> str:
        """Return the name of the warmup Job of one partition without its hash."""
        return f"{self.name}-warmup-{partition}"

    @property
    def refresh(self) -> str:
        """Name of the CronJob that copies again what is new at the source."""
        return with_hash(self.name, "refresh", CRON_JOB_LIMIT)

    def refresh_warmup(self, partition: int) -> str:
        """Return the name of the CronJob that warms the cache of one partition after a refresh."""
        return with_hash(self.name, f"refresh-warmup-{partition}", CRON_JOB_LIMIT)


@dataclass(frozen=True, slots=True)
class TaskNames:
    """Names of the objects of one task on a dataset. `word` is the kind of the task's spec in lower case."""

    name: str
    word: str = "samplejob"

    @property
    def base(self) -> str:
        """Name, or beginning of the name, of the task's objects."""
        return shorten(f"{self.name}-{self.word}", FILE_LIMIT)

    def task(self, partition: int | None) -> str:
        """Return the name of a Job without its hash. `partition` is None for a task with a single Job.

        A task that runs on every cache node has one Job per partition.
        """
        return self.base if partition is None else f"{self.base}-{partition}"

    def warmup(self, partition: int) -> str:
        """Return the name of the Job, without its hash, that warms the cache of one partition after a sync."""
        return f"{self.base}-warmup-{partition}"


@dataclass(frozen=True, slots=True)
class DataCubeNames:
    """Names of one DataCube's objects. The Job's name is that of the TensorStack controller, plus a hash."""

    name: str

    @property
    def base(self) -> str:
        """Name, or beginning of the name, of the objects except the Job."""
        return shorten(f"{self.name}-datacube", FILE_LIMIT)

    @property
    def job(self) -> str:
        """Name of the Job without its hash."""
        return f"{self.name}-batchjob"


MOST_PODS = MOST_NODES
"""Maximum number of pods in one role."""

_INDEX_LENGTH = len(f"-{MOST_PODS - 1}")
"""Characters reserved for the index of any pod, so that a name does not depend on the size of its role."""

_POD_SUFFIX = len("-abcde")

STEM_LIMIT = LABEL_LIMIT - _INDEX_LENGTH - HASH_LENGTH - 1

BLANK_RUN = "0" * HASH_LENGTH
"""Placeholder for the hash of a run while that hash is computed; no hash has a 0."""


@dataclass(frozen=True, slots=True)
class TrainingNames:
    """Names of one training job's objects. `name` is that of the spec, `word` is its kind in lower case.

    All names of one run end in the run's hash `run`, so the pods of an old and a new run never connect to each other. A
    pod's name `<Job>-<index>` is also its DNS label, so the Job's name is short enough for the index and has no dot.
    """

    name: str
    word: str
    base: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", f"{self.name.replace('.', '-')}-{self.word}")

    @property
    def outputs(self) -> str:
        """Name of the ServiceAccount of the pods that copy the job's outputs."""
        return f"{self.base}-outputs"

    def stem(self, role: str) -> str:
        """Return the name of a role's Job without the run's hash, such as `resnet-paddlejob-worker`."""
        return shorten(f"{self.base}-{role}", STEM_LIMIT)

    def job(self, role: str, run: str) -> str:
        """Return the name of a role's Job."""
        return f"{self.stem(role)}-{run}"

    def service(self, run: str) -> str:
        """Return the name of the Service that gives the pods their DNS names. It begins with a letter, as required."""
        stem = self.base if self.base[0].isalpha() else f"job-{self.base}"
        return with_hash(stem, run)

    def job_set(self, roles: Sequence[str], run: str) -> str:
        """Return the name of the JobSet with these roles.

        The webhook of JobSet requires pod names `<JobSet>-<role>-0-<index>-<suffix>` to be DNS labels.
        """
        rest = max(len(f"-{role}-0") for role in roles) + _INDEX_LENGTH + _POD_SUFFIX
        stem = self.base if self.base[0].isalpha() else f"job-{self.base}"
        return with_hash(stem, run, LABEL_LIMIT - rest)

    @property
    def gate(self) -> str:
        """Name of the ServiceAccount of the job's gates. It always ends in the same words, by which it is known."""
        return with_hash(self.name.replace(".", "-"), f"{self.word}-gate", SUBDOMAIN_LIMIT)

    def group(self, run: str) -> str:
        """Return the name of the PodGroup, which is also the value of a label of the pods."""
        return with_hash(self.base, run)

    def part(self, word: str, run: str) -> str:
        """Return the name of another object of the run; `word` is a part of it, `await` for the await agents' Role."""
        return with_hash(f"{self.base}-{word}", run)
