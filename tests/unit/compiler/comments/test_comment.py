"""`stowplan comment` against servers of GitHub and GitLab: it keeps one comment, its own, and touches no other."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner, Result

from stowplan.compiler.cli import app
from stowplan.compiler.comments.body import MARKER, body, harmless
from tests.comment_services import HEAD, OWN, TOKEN, Service, service, variables
from tests.recorder import recording


@pytest.fixture(params=["github", "gitlab"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("COLUMNS", "400")
    with service(provider) as state:
        for name, value in variables(provider, state).items():
            monkeypatch.setenv(name, value)
        yield state


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "comment.md").write_text("### Stowplan: one run starts\n")
    return tmp_path / "comment.md"


def comment(provider: str, file: Path, *more: str, commit: str = HEAD) -> Result:
    given = ("--provider", provider, "--file", str(file), "--request", "7", "--commit", commit)
    return CliRunner().invoke(app, ["comment", *given, *more], catch_exceptions=False)


def test_one_comment_is_added_and_then_edited(provider: str, server: Service, file: Path) -> None:
    assert "The comment is added." in comment(provider, file, "--link", "https://ci.example.com/run/1").output
    (text,) = server.bodies(OWN[provider])
    assert text.startswith(f"{MARKER}\n### Stowplan: one run starts\n")
    assert f"Commit {HEAD} · the page `report.html` is [here](https://ci.example.com/run/1)" in text
    file.write_text("### Stowplan: nothing changes\n")
    assert "The comment is brought up to date." in comment(provider, file).output
    (text,) = server.bodies(OWN[provider])
    assert "nothing changes" in text
    assert "one run starts" not in text
    writes = len(server.writes)
    assert "The comment is up to date." in comment(provider, file).output
    assert len(server.writes) == writes == 2


def test_comments_of_others_stay_even_with_the_marker(provider: str, server: Service, file: Path) -> None:
    server.say("mallory", f"{MARKER}\nApproved by the platform team")
    server.say(OWN[provider], "another job of the same account")
    server.say("mallory", "a question")
    before = [dict(each) for each in server.comments]
    assert comment(provider, file).exit_code == 0
    assert comment(provider, file).exit_code == 0
    assert server.comments[:3] == before
    assert len(server.comments) == 4


def test_the_comment_is_found_behind_many_others(provider: str, server: Service, file: Path) -> None:
    for index in range(230):
        server.say("mallory", f"comment {index}")
    server.say(OWN[provider], f"{MARKER}\nold")
    assert "brought up to date" in comment(provider, file).output
    assert len(server.comments) == 231


@pytest.mark.parametrize("change", ["moved", "closed"])
def test_nothing_is_written_for_another_commit_or_a_closed_request(
    provider: str, server: Service, file: Path, change: str
) -> None:
    """A stranger's job may name the number of another request, and an old job may end after a new one."""
    server.open = change != "closed"
    done = comment(provider, file, commit="b2" * 20 if change == "moved" else HEAD)
    assert (done.exit_code, server.writes) == (0, [])
    assert "Nothing is written" in done.output


def test_a_busy_service_is_asked_again_and_not_forever(provider: str, server: Service, file: Path) -> None:
    server.busy = 2
    assert comment(provider, file).exit_code == 0
    assert len(server.comments) == 1
    server.busy = 3
    done = comment(provider, file)
    assert done.exit_code == 1
    assert "429 (slow down)" in done.output


def test_a_refused_token_is_a_sentence_without_the_token(
    provider: str, server: Service, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "expired-token"
    monkeypatch.setenv("GITHUB_TOKEN" if provider == "github" else "GITLAB_TOKEN", wrong)
    done = comment(provider, file)
    assert done.exit_code == 1
    assert "the service answers 401 (Bad credentials)." in done.output
    assert wrong not in done.output
    assert TOKEN not in done.output


def test_without_a_token_nothing_is_asked(
    provider: str, server: Service, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "GITHUB_TOKEN" if provider == "github" else "GITLAB_TOKEN"
    monkeypatch.delenv(name)
    done = comment(provider, file)
    assert done.exit_code == 1
    assert f"The environment variable {name} is not set." in done.output
    assert server.asked == []


def test_a_token_is_not_sent_in_the_open(provider: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in variables(provider, Service(url="http://service.invalid")).items():
        monkeypatch.setenv(name, value)
    done = comment(provider, file)
    assert done.exit_code == 1
    assert "must begin with https://" in done.output


@pytest.mark.parametrize("way", ["redirect", "proxy"])
def test_a_token_goes_to_the_service_alone(
    provider: str, file: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A proxy sees what is sent to this machine by plain http too."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    with recording() as asked, recording() as other:
        for name, value in variables(provider, Service(url=asked.url)).items():
            monkeypatch.setenv(name, value)
        if way == "redirect":
            asked.location = other.url
        else:
            monkeypatch.setenv("http_proxy", other.url)
        assert comment(provider, file).exit_code == 1
        assert asked.heard(TOKEN)
        assert other.seen == []


def test_a_text_that_is_too_long_is_cut(provider: str, server: Service, file: Path) -> None:
    file.write_text("<details><summary>all</summary>\n\n" + "one line of many\n" * 80_000)
    assert comment(provider, file).exit_code == 0
    (text,) = server.bodies(OWN[provider])
    assert "The rest is left out here" in text
    assert text.rstrip().endswith(f"<sub>Commit {HEAD}</sub>")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--commit", "main"),
        ("--commit", "A1" * 20),
        ("--request", "0"),
        ("--request", "7/../8"),
        ("--link", "javascript:alert(1)"),
        ("--link", "https://a.example.com/) [x](https://b.example.com"),
    ],
)
def test_options_of_another_form_are_refused(
    server: Service, provider: str, file: Path, option: str, value: str
) -> None:
    done = comment(provider, file, option, value)
    assert (done.exit_code, server.asked) == (2, [])


@pytest.mark.parametrize("kind", ["missing", "link", "binary", "long"])
def test_a_file_that_is_no_short_text_is_refused(
    server: Service, provider: str, file: Path, kind: str, tmp_path: Path
) -> None:
    """An artifact may hold a link to a file of the machine."""
    given = tmp_path / "given.md"
    if kind == "link":
        given.symlink_to(file)
    elif kind != "missing":
        given.write_bytes(b"\xff" if kind == "binary" else b"x" * (4 * 1024 * 1024 + 1))
    done = comment(provider, given)
    assert (done.exit_code, server.asked) == (2, [])


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("/merge\n", "\u200b/merge\n"),
        ("text\n  /approve now", "text\n  \u200b/approve now"),
        ("ask @ml-platform/owners", "ask @\u200bml-platform/owners"),
        ("<!--\n/close\n-->\n```\n/merge\n```", "<!--\n\u200b/close\n-->\n```\n\u200b/merge\n```"),
        ("<!-- stowplan:review -->", "<\u200b!-- stowplan:review -->"),
        ("a\r\n/close\rb\x00\x1b[2J", "a\n\u200b/close\nb[2J"),
    ],
)
def test_text_of_strangers_mentions_nobody_and_starts_nothing(hostile: str, shown: str) -> None:
    assert harmless(hostile) == shown
    assert body(hostile, commit=HEAD, link="", limit=1000).count(MARKER) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`ml/mnist@sha256:abc`",
        "out/ml/a.yaml",
        "https://a.example.com/b?c=1&d=2",
        "a <!-- --> b",
        "git@github.com:ml/data.git",
        "# 1. R & D!",
        "stroke:#1a7f37,stroke-width:2px",
        "![](a.png)",
        "~bug %12 $3",
        "nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert harmless(text) == text


CODED = ["&#64;", "&#064;", "&#x40;", "&#X0040;", "&commat;"]
MENTIONS = [
    f"{before}@octocat" for before in (".", "/", "`", "@", "\\", "_", "é", "日", "<b>", "[a]", "&#46;", "&lt;", "(")
]
MENTIONS += [f"_{each}ml/owners_" for each in ("@", *CODED)] + [f"a{each}b @<!-- -->c" for each in CODED]
MENTIONS += ["@&#111;ctocat", "`@octocat`", "```\n@octocat\n```", "    @octocat", "[@octocat](https://a.example.com)"]
IN_HTML = [
    f"<div>\n{each}\n</div>" for each in ("&#64octocat", "&#x40octocat", "&lt@octocat", "&amp@octocat", "&#32@octocat")
]
REQUESTS = [
    "#1",
    "!12",
    "&3",
    "ml/data#1",
    "ml/data!1",
    "GH-1",
    "GL-4",
    "ABC_D-12",
    "#1+",
    "[issue:1]",
    "[work_item:ml/data/1]",
]
REQUESTS += ["&#35;1", "&num;1", "#&#49;", "&excl;1", "&amp;1", "\\#1", "&#71;H-1", "GH&#45;1", "<b>#1</b>"]
REQUESTS += [
    f"https://a.example.com/ml/data/{each}/1" for each in ("pull", "-/issues", "-/merge_requests", "-/work_items")
]
WORD = re.compile(r"(?:^|(?<=\W))@(?=\w)", re.ASCII)
"""How GitHub's filter and GitLab's find a mention in a piece of rendered text."""
REQUEST = re.compile(
    r"[#!&]\d|\b[A-Z][A-Z0-9_]+-\d|\[\w+:[\w/]*\d|/(?:pull|issues|merge_requests|work_items)/\d", re.ASCII
)


def texts(markdown: str) -> list[str]:
    """The pieces of text between the tags of what Markdown renders to, with character references as the characters."""
    rendered = MarkdownIt("commonmark").render(markdown)
    return [html.unescape(each) for each in re.split(r"<[^>]*>", rendered)]


@pytest.mark.parametrize("hostile", [*MENTIONS, *IN_HTML, *REQUESTS])
def test_nothing_that_is_rendered_is_a_mention_and_all_looks_the_same(hostile: str) -> None:
    live, shown = texts(hostile), texts(harmless(hostile))
    assert any(WORD.search(each) or REQUEST.search(each) or "@" in each for each in live), "this is not hostile"
    assert not [each for each in shown if WORD.search(each) or REQUEST.search(each)]
    assert "".join(shown).replace("\u200b", "") == "".join(live)
    assert len(shown) == len(live), "the markup is the same"
