"""`RemoteSide`: the side of a DataCube that is not the claim."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from stowplan.library.dialects.data_cube import options
from stowplan.library.dialects.data_cube.options import Option, Side
from stowplan.library.dialects.data_cube.remotes.flags import Arguments
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.data_cube import DataReference
from stowplan.schema.meta import Model
from stowplan.schema.remotes.remote import option_env

Settings = TypeVar("Settings", bound=Model)


@dataclass(frozen=True, slots=True)
class RemoteSide:
    """The remote side of a DataCube, with the settings from the fields of the spec and from the flags in `extraArgs`.

    `options` are the options that its remote has. `fields` are the values of the fields that are given, by setting.
    `environment` are the names of the variables in `executor.env`.
    """

    side: Side
    reference: DataReference
    options: Mapping[str, Option]
    fields: Mapping[str, Any]
    arguments: Arguments
    environment: frozenset[str]

    @property
    def uploads(self) -> bool:
        """Whether the cube copies from the claim to the remote side."""
        return self.side == "sink"

    @property
    def path(self) -> FieldPath:
        """Path of the remote side in the document."""
        return ("spec", self.side)

    def block(self, model: type[Settings]) -> Settings:
        """Return the block of settings of the remote; without the block, `model` with its defaults."""
        given = getattr(self.reference, self.reference.type, None)
        return given if isinstance(given, model) else model()

    def setting(self, name: str) -> Any:
        """Return the value of the field for a setting, else that of the flag; None if neither is given."""
        value = self.fields.get(name)
        return self.arguments.settings.get(name) if value is None else value

    def overrides(self, setting: str) -> bool:
        """Return whether a field or an option of the spec gives this setting, so that the flag has no effect."""
        return setting in self.fields or options.given(self.reference, setting)

    def literal(self, option: str) -> str:
        """Return the literal value of an option; the empty string if it is not given, or has a reference instead."""
        return options.literal(self.reference, option)

    def path_of(self, option: str) -> FieldPath:
        """Return the path of an option's value; the path of the list of options if the option is not given."""
        return options.path_of(self.reference, option, self.path)

    def env(self, option: str) -> str | None:
        """Return the name of the environment variable that carries an option of the remote.

        Return None if the option has no effect on this side, or if neither the options nor the flags give it. Raises
        `KeyError` for an option that is not in `options`.
        """
        has_value = options.given(self.reference, option) or option in self.arguments.settings
        return option_env(option) if self.options[option].acts_on(self.side) and has_value else None
