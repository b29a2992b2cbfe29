"""Forms of strings: regular expressions of fields, and what people read in their place."""

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DIGEST = r"^sha256:[0-9a-f]{64}$"
COMMIT = r"^([0-9a-f]{40}|[0-9a-f]{64})$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"

ENV_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*\*?$"
"""Regular expression for the name of an environment variable, or for a prefix of such names and `*`."""

BLANK = r"\s\x00-\x1f\x7f-\x9f"
"""Blanks and control characters, as a part of a character class in a regular expression.

No address holds them, and those after `\x7e` steer terminals too.
"""
WORD = rf"^[^{BLANK}]+$"
S3_URI = rf"^s3://[^/{BLANK}]+(/([^{BLANK}]+( +[^{BLANK}]+)*)?)?$"
STORE_URL = rf"^https?://[^/@{BLANK}]+(/[^@?#{BLANK}]*)?$"
GIT_URL = rf"^https?://[^/@{BLANK}]+/[^{BLANK}]+$"
REPOSITORY = r"^[\w.-]+(/[\w.-]+)?$"
HOST = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$"
MOUNT_PATH = r"^/[^:]*[^:/][^:]*$"
PROCESSES = r"^(auto|cpu|gpu|[1-9][0-9]{0,3})$"
CODE = r"^SP[0-9]{3}$"
KUEUE_VERSION = r"^0\.[0-9]{1,3}(\.[0-9]{1,3})?$"
SPEC = r"^[A-Za-z]+ [a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*$"
RUN = r"^[a-z2-7]{8}$"

LINEAGE = r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$"
"""Form of a lineage's name: no part begins with a dot, so a name can be a path, and is no state directory."""

LOCKED = "locked"
"""The value of `revision` that stands for the one that the source of the Dataset names, by itself or by the lock file."""

REVISION = rf"^({LOCKED}|[0-9a-f]{{40}}|(sha256:)?[0-9a-f]{{64}})$"
"""Form of the revision of a dataset: a commit of Git or of a Hub, or the hash of a listing."""

FORMS = {
    DNS_LABEL: "lower-case letters, digits and -, with a letter or digit at both ends",
    DIGEST: "sha256: and 64 hexadecimal digits in lower case",
    COMMIT: "a whole commit, of 40 or 64 hexadecimal digits in lower case",
    DATE: "a time such as 2026-12-01T09:30:00Z",
    ENV_PATTERN: "a name of letters, digits and _, with a * at its end for all names that begin so",
    WORD: "a string without blanks and control characters",
    S3_URI: "s3://bucket or s3://bucket/prefix, without control characters, and blanks only between other characters",
    STORE_URL: "https://host, http://host or one with a path, without a user, a query, blanks and control characters",
    GIT_URL: "https://host/path or http://host/path, without a user, blanks and control characters",
    REPOSITORY: "owner/name or name, of letters, digits, ., _ and -",
    HOST: "host or host:port, in lower case",
    MOUNT_PATH: "an absolute path other than /, without a colon",
    PROCESSES: "auto, cpu, gpu, or a number from 1 to 9999 in quotes",
    CODE: "a code such as SP542",
    KUEUE_VERSION: "a version such as 0.19 or 0.19.1",
    SPEC: "kind, namespace and name, such as SampleJob ml/clean",
    RUN: "the eight characters at the end of the names of the run's Jobs",
    LINEAGE: "letters, digits, ., _ and -, in parts with / between them that each begin with a letter or digit",
    REVISION: f"{LOCKED}, a whole commit, or the hash of a listing",
}
"""Descriptions for messages, by regular expression of a field."""
