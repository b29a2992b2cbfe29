"""The body of the comment: a marker to find it by, and Markdown that can call nobody and start nothing."""

import re

MARKER = "<!-- stowplan:review -->"
"""First line of the comment. No service shows it."""

_MARKER = re.compile(r"<!--(?=\s*stowplan:)")
_CHARACTER = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*;)")
"""A character by its number or name. It is rendered before people and requests are looked for."""
_MENTION = re.compile(r"(?:(?<![0-9A-Za-z])|&[A-Za-z]+)@")
"""An `@` that GitHub or GitLab may read as the start of a person or team.

Both look for words in what is rendered, where an underscore or backtick may be gone, with patterns of Ruby, which knows
the letters of ASCII alone. A letter or digit before it, as in `image@sha256:`, is none, unless it ends a name without a
semicolon, such as `&lt`, which HTML renders too.
"""
_REQUEST = re.compile(
    r"""
      [!&] (?=[0-9])                                       # merge requests and epics of GitLab
    | (?<!&) [#] (?=[0-9]+ (?![0-9A-Za-z_]))               # issues; no colours of Mermaid
    | \b [A-Z][A-Z0-9_]+ - (?=[0-9]+ (?![0-9A-Za-z_]))     # issues such as GH-1, GL-1 or those of Jira
    | \[ (?:epic|issue|merge_request|work_item) :          # the same of GitLab, such as [issue:1]
    | / (?:discussions|epics|issues|merge_requests|pull|pulls|work_items) / (?=[0-9])    # URLs
    """,
    re.VERBOSE,
)
"""Start of a reference that adds a line to the history of an issue or request, or to a tracker outside.

Other references, such as labels, milestones and snippets, only become links. So do commits, on which GitLab notes at
most that this request mentions them.
"""
_QUICK_ACTION = re.compile(r"^([ \t]*)/(?=\w)", re.MULTILINE)
"""GitLab obeys lines such as `/merge` with the rights of the token, wherever its version sees no code or HTML."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ZERO_WIDTH_SPACE = "\u200b"
_CUT = "\n\n</details>\n\nThe rest is left out here, because the comment is too long.\n"


def body(markdown: str, *, commit: str, link: str, limit: int) -> str:
    """Return the body of the comment with at most `limit` characters.

    `markdown` may come from a stranger's pull request: in the body it mentions nobody, refers to no issue or request,
    starts no quick action of GitLab and holds no marker. What is too long is cut. The last line names `commit` and
    links to the page at the URL `link`; empty if there is none.
    """
    page = f" · the page `report.html` is [here]({link})" if link else ""
    tail = f"\n<sub>Commit {commit}{page}</sub>\n"
    text = harmless(markdown)
    room = limit - len(MARKER) - len(tail) - 2
    if len(text) > room:
        text = text[: room - len(_CUT)].rpartition("\n")[0] + _CUT
    return f"{MARKER}\n{text.rstrip()}\n{tail}"


def harmless(markdown: str) -> str:
    """Return Markdown that looks the same and has no effect beyond the comment: spaces without a width are added."""
    text = _CONTROL.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n"))
    text = _MARKER.sub(f"<{_ZERO_WIDTH_SPACE}!--", text)
    text = _CHARACTER.sub(rf"{_ZERO_WIDTH_SPACE}\g<0>{_ZERO_WIDTH_SPACE}", text)
    text = _MENTION.sub(rf"\g<0>{_ZERO_WIDTH_SPACE}", text)
    text = _REQUEST.sub(rf"\g<0>{_ZERO_WIDTH_SPACE}", text)
    return _QUICK_ACTION.sub(rf"\1{_ZERO_WIDTH_SPACE}/", text)


def is_review(text: str) -> bool:
    """Whether a comment begins with `MARKER`, as those of this program do. Anybody can write such a comment."""
    return text.lstrip().startswith(MARKER)
