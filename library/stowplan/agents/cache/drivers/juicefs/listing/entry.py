"""One object of the source or of the destination of a sync, and the place where they lie."""

from dataclasses import dataclass
from urllib.parse import unquote

from stowplan.agents.copying.newness import SECOND, Stamp


@dataclass(frozen=True, slots=True)
class Entry:
    """One object or file, as a listing names it. If its key ends in `/`, it stands for a folder."""

    key: str
    """Key relative to the address of the source or destination. Bytes that are no UTF-8 are surrogates."""
    size: int
    modified: int
    """Modification time in whole seconds since 1970."""
    etag: str = ""
    """ETag of the object, in quotes; empty if the listing names none."""

    @property
    def order(self) -> bytes:
        """Bytes of the key, by which listings are sorted."""
        return self.key.encode(errors="surrogateescape")

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.size, self.modified * SECOND)


@dataclass(frozen=True, slots=True)
class Place:
    """What an address of `juicefs sync` means: all keys below `folder` that begin with `stem`, without that stem."""

    folder: str
    """Address of a directory."""
    stem: str = ""

    @classmethod
    def of(cls, address: str, *, bucket_in_path: bool = False) -> "Place":
        """Return the place of an address. `bucket_in_path` is true if the first segment of its path is a bucket.

        Without `/` at its end an address means an object, or keys with a common beginning.
        """
        scheme, _, rest = address.partition("://")
        host, _, path = rest.partition("/")
        folder, slash, stem = path.rpartition("/")
        if not stem or (bucket_in_path and not slash):
            return cls(address)
        return cls(f"{scheme}://{host}/{folder}{slash}", unquote(stem, errors="surrogateescape"))
