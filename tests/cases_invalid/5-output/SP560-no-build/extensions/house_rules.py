"""An extension without its function."""


def biuld(app, program):
    """Nothing to do."""
