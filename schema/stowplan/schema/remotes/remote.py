"""What each remote of a transfer declares: its endpoint in the agent's configuration, and its block of a spec."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from stowplan.schema.forms import HOST
from stowplan.schema.meta import Model
from stowplan.schema.remotes.place import Place

HOSTS = "Further hosts, as `host` or `host:port`, to which a server's answers and redirects may lead for content. The stores of huggingface.co, github.com, gitlab.com and bitbucket.org are always allowed."
Hosts = list[Annotated[str, Field(pattern=HOST, max_length=260)]]

Pattern = Annotated[str, Field(max_length=1024)]
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_.-][A-Za-z0-9_.-]*$")]


def option_env(option: str) -> str:
    """Return the environment variable of an option: `S3_ENDPOINT` for `s3-endpoint`."""
    return option.upper().replace("-", "_")


class RemoteEndpoint(Model):
    """A remote side in the configuration of the transfer agent. The class variables are facts about the remote."""

    MIRRORS: ClassVar[bool] = False
    """Whether the agent can delete in the claim what the remote does not have."""
    PARTS: ClassVar[bool] = True
    """Whether large files are copied in parts, so that `partSizeMiB` is read."""
    SECRETS: ClassVar[frozenset[str]] = frozenset()
    """Fields with the names of variables whose values no output may hold."""
    ADDRESSES: ClassVar[frozenset[str]] = frozenset()
    """Fields with the names of variables whose values are URLs that may hold credentials."""
    OF_SOURCES: ClassVar[frozenset[str]] = frozenset()
    """Keys that the agent reads only if the remote is the source."""
    OF_SINKS: ClassVar[frozenset[str]] = frozenset()
    """Keys that the agent reads only if the remote is the sink."""
    UNLESS_EMPTY: ClassVar[frozenset[str]] = frozenset()
    """Keys that are written only with a value. Older configurations lack them, and must not start a new run."""

    EXTRA: ClassVar[str] = "transfer"
    """The extra of Stowplan's package that brings what its engine imports."""

    type: str = Field(description="What it is.", max_length=64)

    @property
    def confidential(self) -> frozenset[str]:
        """Names of the variables whose values are secret, or URLs that may hold credentials."""
        return frozenset(name for field in self.SECRETS | self.ADDRESSES if (name := getattr(self, field)))


@dataclass(frozen=True, slots=True)
class RemoteModels:
    """The models of one remote: `REMOTE` of its module.

    `settings` is the model of the block of a DataCube's side that has the remote's name, and `about` the description of
    this block. `source` and `target` are its blocks in the native kinds: of what they copy from, and to. A remote
    without one of them has no such block.

    An example is `stowplan.schema.remotes.toy`::

        '''Toy stores, as sides of a transfer.'''

        from typing import ClassVar, Literal

        from pydantic import Field

        from stowplan.schema.meta import Model
        from stowplan.schema.remotes.place import LocalSecret, Place
        from stowplan.schema.remotes.remote import RemoteEndpoint, RemoteModels


        class ToyEndpoint(RemoteEndpoint):
            '''A path in a toy store.'''

            SECRETS: ClassVar[frozenset[str]] = frozenset({"key_env"})

            type: Literal["toy"] = Field(default="toy", description="What it is.")
            path_env: str = Field(description="Variable with the path.", max_length=64)
            key_env: str | None = Field(default=None, description="Variable with the key.", max_length=64)
            shelf: int = Field(default=0, description="Number of the shelf.")


        class ToySettings(Model):
            '''How a toy store is used.'''

            shelf: int | None = Field(default=None, description="Number of the shelf.")


        class ToyPlace(Place):
            '''A path in a toy store.'''

            ABOUT: ClassVar[str] = "A path in a toy store."
            IDENTITY: ClassVar[tuple[str, ...]] = ("path", "shelf")

            path: str = Field(description="The path.", max_length=64)
            shelf: int = Field(description="Number of the shelf.")
            secret_ref: LocalSecret | None = Field(default=None, description="Secret with the key `key`.")


        REMOTE = RemoteModels(
            ToyEndpoint,
            ToySettings,
            "How the store is used, for `toy`.",
            source=ToyPlace,
            target=ToyPlace,
        )
    """

    endpoint: type[RemoteEndpoint]
    settings: type[Model] | None = None
    about: str = ""
    source: type[Place] | None = None
    target: type[Place] | None = None
