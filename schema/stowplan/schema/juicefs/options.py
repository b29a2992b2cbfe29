"""JuiceFS: changes of options since the old operator, and values that compiler and agents share.

Option names and versions follow the JuiceFS community edition, 1.0 to 1.4, and the `spec.mountOptions` that its CSI
driver accepts. The old operator was written against 0.16 and 0.17.
"""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import ConfigDict

from stowplan.schema.meta import Model

Version = tuple[int, int]

STORAGES = frozenset(
    "bos s3 hdfs gs wasb oss cos ks3 ufile qingstor jss qiniu b2 space obs oos scw minio scs ibmcos wasabi mss nos eos "
    "speedy ceph swift webdav redis tikv file".split()
)
"""Object storages that a source URI may name: the allow-list of the old operator's `ValidateSourceURI`."""

WITHOUT_TIMES = frozenset({"redis", "tikv"})
"""Storages of `STORAGES` that have no modification times: a listing of JuiceFS has the present time (`pkg/object`)."""

VOLUME_SECRET_KEYS = ("bucket", "metaurl", "name", "storage")
"""Required keys of the volume Secret; the old operator refused a Secret without one of them."""

CREDENTIAL_KEYS = ("access-key", "secret-key")
"""Optional keys of a volume or source Secret."""


class Fate(StrEnum):
    """What has changed about an option since the old operator.

    It is the same, has another name, has another meaning, or no longer exists.
    """

    KEPT = "kept"
    RENAMED = "renamed"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Option:
    """Translation of one option of a spec into a JuiceFS flag.

    `flag` is the present name of the flag, without dashes. `since` is the first version of JuiceFS with this flag.
    `note` explains why an option was removed or renamed, or how its meaning changed; it becomes part of a diagnostic.
    """

    flag: str
    since: Version = (1, 0)
    fate: Fate = Fate.KEPT
    note: str = ""


class Flags(Model):
    """Options of a command of JuiceFS, whose keys are the names of its flags: `attr-cache` for `attr_cache`."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))
