"""Why a reference could not be resolved."""

import re

_CREDENTIALS = re.compile(r"//[^/@\s]+@")


class UnresolvedError(Exception):
    """A reference could not be resolved: `message` and `hint` are sentences for the user, without credentials."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = (_CREDENTIALS.sub("//", text) for text in (message, hint))


class MissingPackageError(Exception):
    """A package that a resolver needs is not installed; `name` is that of the package."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
