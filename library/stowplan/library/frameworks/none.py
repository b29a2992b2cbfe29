"""No framework: a program that finds its peers by the variables `STOWPLAN_*`, or that needs none."""

from stowplan.library.frameworks.api import WRONG_COMMAND, Plugin


class NoFramework(Plugin):
    """Adds no variables to those that all jobs have.

    Its program may be any launcher, also `torchrun`, so its other exit codes say nothing. It may wait for ever for a
    process that is gone.
    """

    final = WRONG_COMMAND


PLUGIN = NoFramework
