"""Writing of the list of finished runs, whose comments are kept."""

from collections.abc import Mapping, Sequence
from io import StringIO
from shlex import quote

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_HEADER = """\
# Runs that are over. Their Jobs are kept out of the output and never run again, also when an older branch brings them
# back. `stowplan retire NAME{}` adds one.
"""


def with_runs(
    text: str, runs: Sequence[Mapping[str, str]], digests: Mapping[tuple[str, str], str], other_platform: str
) -> str | None:
    """Return the YAML of the list `text` with the entries `runs` added at its end; None if it is no list of runs.

    An entry has the fields of `RetiredRun`. Present entries that lack a digest get that of `digests`, by spec and hash.
    Their comments and order are kept. An empty `text` becomes a list with an explanation. `other_platform` is the
    platform file that the option `--platform` names, empty without it.
    """
    new = not text.strip()
    header = _HEADER.format(f" --platform {quote(other_platform)}" if other_platform else "")
    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1 << 20
    try:
        data = editor.load(f"{header}runs: []\n" if new else text)
        entries = data["runs"]
        for each in entries:
            if "digest" not in each and (digest := digests.get((each["spec"], each["run"]))):
                each["digest"] = digest
        if new:
            entries.fa.set_block_style()
        entries.extend(dict(each) for each in runs)
    except (YAMLError, AttributeError, KeyError, TypeError):
        return None
    made = StringIO()
    editor.dump(data, made)
    return made.getvalue()
