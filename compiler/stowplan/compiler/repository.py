"""What a user's repository is made of."""

PLATFORM_FILES = ("stowplan.yaml", "stowplan.yml")
"""Names of the platform file, of which there is one."""

SPECS = "specs"
"""The folder of the specs."""

SUFFIXES = (".yaml", ".yml")
"""How names of spec files end."""

MAX_FILE_SIZE = 1 << 20
"""Bytes. etcd takes objects up to 1.5 MiB; a file of specs is a few KiB, so more is a mistake such as a data file."""
