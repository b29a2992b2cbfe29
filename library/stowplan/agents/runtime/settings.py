"""Common parts of the agents' settings: the error, and the reading of a configuration file."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

Config = TypeVar("Config")


class SettingsError(Exception):
    """Arguments, environment or configuration are wrong. The message is a sentence without secret values."""


def read_config(path: Path, parse: Callable[[bytes], Config]) -> Config:
    """Read the configuration from a JSON file.

    `parse` is `model_validate_json` of a pydantic model, or `validate_json` of a pydantic TypeAdapter. Raises
    SettingsError if the file cannot be read or is not valid. The message does not quote the wrong value.
    """
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"The configuration cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        where = f"{place}: " if place else ""
        raise SettingsError(f"The configuration {path} is wrong: {where}{first['msg']}") from None
