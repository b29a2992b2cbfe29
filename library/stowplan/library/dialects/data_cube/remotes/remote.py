"""What each remote of DataCubes declares for the compiler: `REMOTE` of its module."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from stowplan.library.dialects.data_cube.options import Option, Side
from stowplan.library.dialects.data_cube.remotes.flags import Flag
from stowplan.library.dialects.data_cube.remotes.remote_side import RemoteSide
from stowplan.schema.diagnostics import Finding
from stowplan.schema.kinds.data_cube import DataReference
from stowplan.schema.remotes.remote import RemoteEndpoint


def _nothing(_: RemoteSide) -> Iterable[Finding]:
    return ()


def _as_given(_: DataReference) -> Mapping[str, str]:
    return {}


def _root(_: DataReference) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Remote:
    """One remote: its options, the flags of the tool that the old system ran for it, and its rules.

    An example is `stowplan.library.dialects.data_cube.remotes.toy`::

        '''Toy stores as a side of a DataCube.'''

        from stowplan.library.dialects.data_cube.options import Option
        from stowplan.library.dialects.data_cube.remotes.remote import Remote
        from stowplan.schema.remotes.toy import ToyEndpoint, ToySettings


        def _endpoint(remote):
            shelf = remote.block(ToySettings).shelf or 0
            return ToyEndpoint(pathEnv=remote.env("toy-path"), keyEnv=remote.env("toy-key"), shelf=shelf)


        REMOTE = Remote(_endpoint, {"toy-path": Option(required=True), "toy-key": Option(secret=True)})
    """

    endpoint: Callable[[RemoteSide], RemoteEndpoint]
    """Function that returns the remote side in the configuration of the transfer agent. The side has no errors."""
    options: Mapping[str, Option]
    agent: Literal["git", "transfer"] = "transfer"
    """The image of the agent."""
    unlimited: bool = False
    """Whether its speed cannot be limited by `maxBytesPerSecond`."""
    settings: tuple[str, ...] = ()
    """Fields of its block in the spec that flags can give too; the setting has the name of the field."""
    one_sided: Mapping[str, Side] = field(default_factory=dict)
    """Fields of its block that have an effect on one side only, and this side."""
    tool: str = ""
    """The tool that the old system ran; empty for none."""
    flags: Mapping[str, Flag] = field(default_factory=dict)
    """The accepted flags of the tool. A flag that changes the outcome and has no typed field is refused."""
    short: Mapping[str, str] = field(default_factory=dict)
    """Other forms of its flags."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Hints for some of the flags that are refused."""
    findings: Callable[[RemoteSide], Iterable[Finding]] = _nothing
    """Function that returns findings about the values of the options and the fields of the block."""
    defaults: Callable[[RemoteSide], Iterable[Finding]] = _nothing
    """Function that returns findings about defaults in use that differ from the old system's."""
    mirror: Callable[[RemoteSide], tuple[str, str] | None] | None = None
    """Function that returns why `sync` cannot be used with this source, and a hint; None if it can.

    Without a function, `sync` can never be used.
    """
    replaced: Callable[[DataReference], Mapping[str, str]] = _as_given
    """Function that returns values by name of the variable, which replace literal values of options."""
    directory: Callable[[DataReference], str] = _root
    """Function that returns the directory below the path in the claim that is written to; empty for the path itself."""
