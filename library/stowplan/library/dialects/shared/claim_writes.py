"""The directory of a volume that a spec uses, and the claim that it creates."""

from dataclasses import dataclass

from stowplan.schema.diagnostics import FieldPath


@dataclass(frozen=True, slots=True)
class Write:
    """A directory of a volume that a spec uses: `path` in the volume, empty for the root.

    The volume is that of a claim; if `by_secret` is true, `claim` is the name of the Secret that names the volume, and
    `namespace` that of the Secret. `writes` is true if the spec writes to the directory, `mirror` if it also deletes
    files in it. `dataset` is the URI from which the directory is filled as a dataset, empty if it is none. `at` is the
    path of the field that names the directory, `template` the path of the claim's template, empty if there is none.
    `native` is true for a Dataset, with or without a source, `lineage` for checkpoints.
    """

    namespace: str
    claim: str
    path: str
    mirror: bool
    at: FieldPath
    template: FieldPath = ()
    writes: bool = True
    dataset: str = ""
    by_secret: bool = False
    native: bool = False
    lineage: bool = False

    @property
    def field(self) -> str:
        """The field of a dataset's spec that names the directory, for hints."""
        if self.native:
            return f"volume.{self.at[2]}.subPath"
        # The old operator's spelling, `sub-dir`, would give a warning (SP407).
        return "csi.juiceFSMountOptions.subdir" if self.by_secret else "csi.claim.subPath"

    @property
    def volume(self) -> tuple[bool, str, str]:
        """The volume, as `by_secret`, `namespace` and `claim`, to compare it with that of another spec."""
        return self.by_secret, self.namespace, self.claim
