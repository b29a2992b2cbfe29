"""Places of data outside of a volume, in specs of the native kinds: what they copy from, and what they copy to."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from stowplan.schema.meta import Model

Patterns = Annotated[list[Annotated[str, Field(max_length=1024)]], Field(min_length=1, max_length=1024)]
InnerPath = Annotated[str, Field(min_length=1, max_length=4096)]

INCLUDE = "Patterns of the files to copy, as paths below the source. `*` and `?` match `/` too, and `folder/` is everything below it. Without it, all."
EXCLUDE = "Patterns of the files to leave out, even if `include` matches."


class LocalSecret(Model):
    """A Secret in the namespace of the spec. Only its name is in Git, never its content."""

    name: str = Field(description="Name of the Secret.", min_length=1, max_length=253)


class Place(Model):
    """A place that the transfer agent copies from or to. It has a field `secretRef`."""

    ABOUT: ClassVar[str]
    """The description of the field with the name of the remote."""

    IDENTITY: ClassVar[tuple[str, ...]]
    """Names of the fields that say what is there: with other values a source has moved. Each is one word."""

    LISTED: ClassVar[bool] = False
    """Whether the revisions of its data are hashes of their listing, and not commits."""

    PUSHED: ClassVar[bool] = False
    """Whether a copy to it pushes commits, which hold links as links."""

    if TYPE_CHECKING:
        # Subclasses declare it, each at its place among their fields.
        secret_ref: LocalSecret | None

    @property
    def address(self) -> str:
        """What identifies the data: an URI with the branch or commit, without credentials."""
        given = (getattr(self, name) for name in self.IDENTITY)
        return "@".join(str(each) for each in given if each is not None)

    @property
    def named_revision(self) -> str | None:
        """The branch, tag or commit, or the hash of a listing, that it names; None for none."""
        return None
