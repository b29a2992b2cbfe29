"""The environments in the platform file of the starter."""

from collections.abc import Sequence

from stowplan.compiler.environments import rules
from stowplan.schema.parse_model import read
from stowplan.schema.platform.platform import Platform

_HEAD = """
# The places that all specs go to, in the order in which a change comes to them. Each has its output in out/<name>.
# Fields of this file that are different in one go into its `set`; `patches` change specs there, and `only` says which
# files of specs it has. `stowplan diff` says what each is behind the one before it.
environments:
"""
_EACH = """\
  - name: {name}
    # The cluster as Argo CD knows it. Once `repoURL` is given above, each environment needs one of its own.
    # set: {{argocd: {{destination: {{server: "https://{name}.example.com:6443"}}}}}}
"""
_MANUAL = """\
    # A change starts no training here. `stowplan synth` says which runs wait; those in this list are started.
    runs: manual
    start: []
"""


def text(names: Sequence[str]) -> str:
    """Return the end of a platform file with environments of these names; empty without any.

    In the last one of several, runs are started by hand.
    """
    parts = [_EACH.format(name=name) for name in names]
    return "".join([*([_HEAD] if names else []), *parts, *([_MANUAL] if len(names) > 1 else [])])


def problem(names: Sequence[str]) -> str:
    """Return why environments may not have these names, as a sentence; empty if they may."""
    platform, found = read(Platform, {"environments": [{"name": name} for name in names]})
    every = [*found, *(rules.findings(platform) if platform else ())]
    return next((f"{each.message} {each.hint}" for each in every), "")
