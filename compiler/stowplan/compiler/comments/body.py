"""The body of the comment: a marker to find it by, and Markdown that can call nobody and start nothing."""

import re

MARKER = "<!-- stowplan:review -->"
"""First line of the comment. No service shows it."""

_MARKER = re.compile(r"<!--(?=\s*stowplan:)")
_MENTION = re.compile(r"(?<![\w`.@/])@(?=\w)")
"""An `@` that GitHub or GitLab may read as a person or a team; that of `image@sha256:` follows a letter or digit."""
_QUICK_ACTION = re.compile(r"^([ \t]*)/(?=\w)", re.MULTILINE)
"""GitLab obeys lines such as `/merge` with the rights of the token."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ZERO_WIDTH_SPACE = "\u200b"
_CUT = "\n\n</details>\n\nThe rest is left out here, because the comment is too long.\n"


def body(markdown: str, *, commit: str, link: str, limit: int) -> str:
    """Return the body of the comment with at most `limit` characters.

    `markdown` may come from a stranger's pull request: in the body it mentions nobody, starts no quick action of GitLab
    and holds no marker. `link` is where the page is; empty if there is none.
    """
    page = f" · the page `report.html` is [here]({link})" if link else ""
    tail = f"\n<sub>Commit {commit}{page}</sub>\n"
    text = harmless(markdown)
    room = limit - len(MARKER) - len(tail) - 2
    if len(text) > room:
        text = text[: room - len(_CUT)].rpartition("\n")[0] + _CUT
    return f"{MARKER}\n{text.rstrip()}\n{tail}"


def harmless(markdown: str) -> str:
    """Return Markdown that looks the same and has no effect beyond the comment."""
    text = _CONTROL.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n"))
    text = _MARKER.sub(f"<{_ZERO_WIDTH_SPACE}!--", text)
    text = _MENTION.sub(f"@{_ZERO_WIDTH_SPACE}", text)
    return _QUICK_ACTION.sub(rf"\1{_ZERO_WIDTH_SPACE}/", text)


def is_review(text: str) -> bool:
    """Whether a comment begins with the marker."""
    return text.lstrip().startswith(MARKER)
