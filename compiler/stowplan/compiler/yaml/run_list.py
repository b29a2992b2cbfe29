"""Writing of the list of finished runs, whose comments are kept."""

from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from shlex import quote
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_HEADER = """\
# Runs that are over. Their Jobs are kept out of the output and never run again, also when an older branch brings them
# back. `stowplan retire NAME{}` adds one.
"""


def with_runs(text: str, runs: Sequence[Mapping[str, str]], other_platform: str = "") -> str | None:
    """Return the list `text` with more entries at its end; None if it is no list of runs.

    Comments and order of the present entries are kept. An empty `text` becomes a list with an explanation.
    `other_platform` is the platform file that the option `--platform` names, if any.
    """
    header = _HEADER.format(f" --platform {quote(other_platform)}" if other_platform else "")
    new = not text.strip()
    return _edited(f"{header}runs: []\n" if new else text, lambda entries: _extend(entries, runs, new=new))


def with_digests(text: str, digests: Mapping[tuple[str, str], str]) -> str:
    """Return the list `text` with digests, by spec and hash, for entries that lack one; unchanged if it is no list."""
    return _edited(text, lambda entries: _complete(entries, digests)) or text


def _edited(text: str, change: Callable[[Any], None]) -> str | None:
    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1 << 20
    try:
        data = editor.load(text)
        change(data["runs"])
    except (YAMLError, AttributeError, KeyError, TypeError):
        return None
    made = StringIO()
    editor.dump(data, made)
    return made.getvalue()


def _extend(entries: Any, runs: Sequence[Mapping[str, str]], *, new: bool) -> None:
    if new:
        entries.fa.set_block_style()
    entries.extend(dict(each) for each in runs)


def _complete(entries: Any, digests: Mapping[tuple[str, str], str]) -> None:
    for each in entries:
        if "digest" not in each and (digest := digests.get((each["spec"], each["run"]))):
            each["digest"] = digest
