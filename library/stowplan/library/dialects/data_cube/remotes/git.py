"""Git repositories as a side of a DataCube."""

from collections.abc import Iterator, Mapping

from stowplan.library.dialects.data_cube import options
from stowplan.library.dialects.data_cube.options import Option
from stowplan.library.dialects.data_cube.remotes.flags import BASE, NOISE, NOTHING, SHORT, Flag, positive, truth
from stowplan.library.dialects.data_cube.remotes.remote import Remote
from stowplan.library.dialects.data_cube.remotes.remote_side import RemoteSide
from stowplan.library.values import git_url
from stowplan.library.values.git_url import GitUrl, Unusable
from stowplan.library.values.variable_references import references
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.data_cube import DataReference
from stowplan.schema.remotes.git import NO_REF, GitEndpoint, GitSettings, repository_directory
from stowplan.schema.remotes.remote import option_env

_OPTIONS = {"token": Option(secret=True), "url": Option(required=True), "ref": Option("source")}

_FLAGS = {
    "--depth": Flag("depth", read=positive, instead="`git.depth`"),
    "--recurse-submodules": Flag("submodules", takes=0, read=truth, instead="`git.submodules`"),
    "--branch": Flag("ref", instead="the option `ref`"),
    "--single-branch": NOTHING,
    **NOISE,
}

_MERGE = "Nothing is ever pushed over what others pushed; merge first."


def _url(reference: DataReference) -> GitUrl | Unusable | None:
    """Return the parsed option `url`; None without a literal URL."""
    url = options.literal(reference, "url")
    return git_url.split(url) if url else None


def _endpoint(remote: RemoteSide) -> GitEndpoint:
    settings = remote.block(GitSettings)
    given = _url(remote.reference)
    url = given if isinstance(given, GitUrl) else GitUrl("")
    return GitEndpoint(
        urlEnv=option_env("url"),
        tokenEnv=url.token_env or remote.env("token"),
        username=url.username,
        usernameEnv=url.username_env,
        refEnv=remote.env("ref"),
        depth=remote.setting("depth"),
        lfs=settings.lfs is not False,
        submodules=bool(remote.setting("submodules")),
        hosts=settings.hosts or [],
    )


def _findings(remote: RemoteSide) -> Iterator[Finding]:
    url = _url(remote.reference)
    if url:
        yield from _address(remote, url)
        yield from _without_token(remote, url)
    yield from _ref(remote)


def _address(remote: RemoteSide, url: GitUrl | Unusable) -> Iterator[Finding]:
    path = remote.path_of("url")
    if isinstance(url, Unusable):
        yield finding("SP603" if url.secret else "SP495", path, url.message, url.hint)
    elif option_env("token") in references(url.url):
        message = "The token is part of the address, which Git writes into the repository's configuration."
        hint = "Remove it there; the agent authenticates with the option `token`."
        yield finding("SP495", path, message, hint)


def _ref(remote: RemoteSide) -> Iterator[Finding]:
    """Yield findings about branch or tag names that Git does not allow.

    The agent checks names that refer to variables.
    """
    named = [(remote.literal("ref"), remote.path_of("ref"))]
    if "ref" in remote.arguments.places:
        path: FieldPath = (*BASE, remote.arguments.places["ref"])
        named.append((str(remote.arguments.settings["ref"]), path))
    for name, path in named:
        if not references(name) and NO_REF.search(name):
            message = f"{name!a} can be neither a branch nor a tag nor a commit."
            yield finding("SP494", path, message, "Give a name as `git branch` shows it.")


def _without_token(remote: RemoteSide, url: GitUrl | Unusable) -> Iterator[Finding]:
    in_url = isinstance(url, GitUrl) and url.token_env
    if remote.uploads and not in_url and not options.certain(remote.reference, "token"):
        yield options.without_token(remote.path)


def _defaults(remote: RemoteSide) -> Iterator[Finding]:
    if not remote.uploads and not options.given(remote.reference, "ref"):
        message = "Without `ref`, the branch is the one that the remote's HEAD names."
        yield finding("SP411", (*remote.path, "options"), message, "Add the option `ref` to choose.")


def _replaced(reference: DataReference) -> Mapping[str, str]:
    """Return the URL without user and password, under the name of its variable."""
    url = _url(reference)
    return {option_env("url"): url.url} if isinstance(url, GitUrl) else {}


def _directory(reference: DataReference) -> str:
    return repository_directory(options.literal(reference, "url"))


REMOTE = Remote(
    _endpoint,
    _OPTIONS,
    agent="git",
    unlimited=True,
    settings=("depth", "submodules"),
    one_sided={"depth": "source", "submodules": "source"},
    tool="git",
    flags=_FLAGS,
    short={**SHORT, "-b": "--branch", "--recursive": "--recurse-submodules"},
    refused={"--force": _MERGE, "-f": _MERGE},
    findings=_findings,
    defaults=_defaults,
    replaced=_replaced,
    directory=_directory,
)
