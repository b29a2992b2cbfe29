"""A server of the Hub's API for `huggingface_hub`, and of the storage that it redirects to.

The Hub and its storage are two hosts, so these are two servers. The storage accepts only signed URLs, and refuses every
request with credentials, as S3 does. https://huggingface.co/docs/hub/api,
https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
"""

import base64
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.agents.transfer.hub_base import PART, SIGNATURE, Base, Hub, Refused, Server, StorageHandler, etag
from tests.agents.transfer.hub_store import Entry, Repository, Store, blob, is_lfs, pointer
from tests.cluster.certificates import Pair


class _HubHandler(Base):
    def _route(self) -> None:
        address = urlsplit(self.path)
        self.query = parse_qs(address.query)
        path = address.path
        for pattern, call in self._routes():
            if found := re.fullmatch(pattern, path):
                call(**found.groupdict())
                return
        raise Refused(404, "", f"There is nothing at {path}")

    def _routes(self) -> list[tuple[str, Callable[..., None]]]:
        repo = r"(?P<name>[\w.-]+(/[\w.-]+)?)"
        kind = r"(?P<kind>models|datasets|spaces)"
        return [
            (r"/api/whoami-v2", self._who),
            (r"/api/repos/create", self._create),
            (r"/api/validate-yaml", self._validate),
            (rf"/api/{kind}/{repo}/revision/(?P<revision>[^/]+)", self._info),
            (rf"/api/{kind}/{repo}/tree/(?P<revision>[^/]+)(/(?P<folder>.+))?", self._tree),
            (rf"/api/{kind}/{repo}/preupload/(?P<revision>[^/]+)", self._preupload),
            (rf"/api/{kind}/{repo}/commit/(?P<revision>[^/]+)", self._commit),
            (rf"/api/{kind}/{repo}/xet-(?P<right>read|write)-token/(?P<revision>[^/]+)", self._xet_token),
            (rf"/api/{kind}/{repo}", self._info),
            (rf"/((?P<kind>datasets|spaces)/)?{repo}\.git/info/lfs/objects/batch", self._batch),
            (rf"/((?P<kind>datasets|spaces)/)?{repo}\.git/info/lfs/complete/(?P<sha256>\w+)", self._complete),
            (rf"/((?P<kind>datasets|spaces)/)?{repo}\.git/info/lfs/verify", self._verify),
            (rf"/((?P<kind>datasets|spaces)/)?{repo}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", self._resolve),
        ]

    @property
    def _base(self) -> str:
        """The URL of this Hub as the client knows it: a proxy may be between the two."""
        return f"{self.hub.scheme}://{self.headers['host']}"

    @property
    def token(self) -> str | None:
        return self.headers.get("authorization", "").removeprefix("Bearer ") or None

    def _repository(self, kind: str | None, name: str, *, write: bool = False, content: bool = False) -> Repository:
        if self.token is not None and self.token not in self.hub.users:
            raise Refused(401, "", "Invalid credentials in Authorization header")
        found = self.hub.store.repositories.get(((kind or "models").removesuffix("s"), name))
        readers = found.readers | found.writers if found else set()
        if found is None or (found.private and self.token not in readers):
            # To strangers what is private is not there.
            raise Refused(404 if self.token else 401, "RepoNotFound", "Repository not found")
        if content and found.gated and self.token not in readers:
            message = f"Access to model {name} is restricted. You must have access to it and be authenticated."
            raise Refused(403 if self.token else 401, "GatedRepo", message)
        if write and self.token not in found.writers:
            raise Refused(403, "", "You don't have the required permissions to perform this action")
        return found

    def _at(self, repository: Repository, revision: str) -> str:
        found = repository.at(unquote(revision))
        if found is None:
            raise Refused(404, "RevisionNotFound", f"Invalid rev id: {unquote(revision)}")
        return found

    def _who(self) -> None:
        if self.token not in self.hub.users:
            raise Refused(401, "", "Invalid credentials in Authorization header")
        self._json({"type": "user", "name": self.hub.users[self.token], "orgs": []})

    def _validate(self) -> None:
        """The metadata of a card: here one word of it decides."""
        bad = "license: none-such" in json.loads(self.body)["content"]
        errors = [{"message": '"license" must be one of those that are known'}] if bad else []
        self._json({"errors": errors, "warnings": []}, 400 if bad else 200)

    def _create(self) -> None:
        given = json.loads(self.body)
        if self.token not in self.hub.users:
            raise Refused(401, "", "Invalid credentials in Authorization header")
        kind, owner = given.get("type") or "model", given.get("organization") or self.hub.users[self.token]
        if (kind, f"{owner}/{given['name']}") in self.hub.store.repositories:
            url = f"{self.hub.url}/{owner}/{given['name']}"
            raise Refused(409, "", "You already created this model repo", url=url)
        private = given.get("private") or given.get("visibility") == "private"
        self.hub.store.make(f"{owner}/{given['name']}", kind, private=private, writers={self.token})
        self._json({"url": f"{self.hub.url}/{owner}/{given['name']}", "name": f"{owner}/{given['name']}"})

    def _info(self, kind: str, name: str, revision: str = "main") -> None:
        repository = self._repository(kind, name)
        commit = self._at(repository, revision)
        siblings = [{"rfilename": path} for path in repository.commits[commit]]
        self._json({"_id": "0", "id": name, "modelId": name, "sha": commit, "private": repository.private,
                    "gated": "manual" if repository.gated else False, "siblings": siblings, "tags": [], "downloads": 0,
                    "likes": 0, "lastModified": "2026-01-01T00:00:00.000Z"})  # fmt: skip

    def _xet_token(self, kind: str, name: str, right: str, revision: str) -> None:
        self._at(self._repository(kind, name, write=right == "write", content=True), revision)
        if self.hub.xet is None:
            raise Refused(404, "", "Not found")
        body, headers = self.hub.xet.connection()
        self._json(body, headers=headers)

    def _tree(self, kind: str, name: str, revision: str, folder: str | None = None) -> None:
        repository = self._repository(kind, name)
        files = repository.commits[self._at(repository, revision)]
        prefix = f"{unquote(folder)}/" if folder else ""
        paths = sorted(path for path in files if path.startswith(prefix))
        if folder and not paths:
            raise Refused(404, "EntryNotFound", f"{prefix} does not exist on {revision}")
        folders = {path[: place.start()] for path in paths for place in re.finditer("/", path)}
        found = [{"type": "directory", "oid": "0" * 40, "size": 0, "path": each} for each in sorted(folders)]
        found += [files[path].listed(path) for path in paths]
        begin = int(self.query.get("cursor", ["0"])[0])
        end = begin + self.hub.page
        more = f"{self._base}{urlsplit(self.path).path}?recursive=true&expand=false&cursor={end}"
        self._json(found[begin:end], headers={"link": f'<{more}>; rel="next"'} if end < len(found) else None)

    def _resolve(self, kind: str | None, name: str, revision: str, path: str) -> None:
        repository = self._repository(kind, name, content=True)
        commit = self._at(repository, revision)
        entry = repository.commits[commit].get(unquote(path))
        if entry is None:
            raise Refused(404, "EntryNotFound", "Entry not found")
        headers = {"x-repo-commit": commit, "etag": f'"{entry.oid}"'}
        if entry.lfs:
            place = f"{self.hub.storage}/lfs/{entry.sha256}?{SIGNATURE}"
            linked = {"x-linked-size": str(entry.size), "x-linked-etag": f'"{entry.sha256}"'}
            self._head(302, {**headers, **linked, "location": place, "content-length": "0"})
        else:
            self._file(self.hub.store.content(entry.sha256), headers)

    def _preupload(self, kind: str, name: str, revision: str) -> None:
        repository = self._repository(kind, name, write=True)
        given = json.loads(self.body)
        there = repository.commits[self._at(repository, revision)]
        ignored = given.get("gitIgnore")
        if ignored is None and ".gitignore" in there:
            ignored = self.hub.store.content(there[".gitignore"].sha256).read_text()
        patterns = [line for line in (ignored or "").splitlines() if line]
        answers = []
        for each in given["files"]:
            base64.b64decode(each["sample"], validate=True)
            entry = there.get(each["path"])
            lfs = is_lfs(each["path"], each["size"])
            answers.append({
                "path": each["path"],
                "uploadMode": "lfs" if lfs else "regular",
                "shouldIgnore": any(Path(each["path"]).match(pattern) for pattern in patterns),
                "oid": (entry.sha256 if entry.lfs else entry.oid) if entry else None,
            })  # fmt: skip
        self._json({"files": answers, "commitOid": self._at(repository, revision)})

    def _batch(self, name: str, kind: str | None = None) -> None:
        self._repository(kind, name, write=True)
        given = json.loads(self.body)
        assert given["operation"] == "upload"
        objects = [
            self._object(each["oid"], each["size"], self.path.partition(".git/")[0]) for each in given["objects"]
        ]
        self._json({"transfer": "multipart" if self.hub.multipart else "basic", "objects": objects})

    def _object(self, sha256: str, size: int, repo: str) -> dict[str, Any]:
        if self.hub.store.content(sha256).exists():
            return {"oid": sha256, "size": size}
        verify = {"href": f"{self._base}{repo}.git/info/lfs/verify", "header": {}}
        upload: dict[str, Any] = {"href": f"{self.hub.storage}/upload/{sha256}?{SIGNATURE}", "header": {}}
        if self.hub.multipart and size > PART:
            self.hub.uploads[sha256] = {}
            count = -(-size // PART)
            header = {
                str(number): f"{self.hub.storage}/part/{sha256}/{number}?{SIGNATURE}" for number in range(1, count + 1)
            }
            complete = f"{self._base}{repo}.git/info/lfs/complete/{sha256}?{SIGNATURE}"
            upload = {"href": complete, "header": {"chunk_size": str(PART), **header}}
        return {"oid": sha256, "size": size, "actions": {"upload": upload, "verify": verify}}

    def _complete(self, name: str, sha256: str, kind: str | None = None) -> None:  # noqa: ARG002 - signed
        parts = self.hub.uploads.get(sha256, {})
        given = json.loads(self.body)
        tags = [etag(parts.get(each["partNumber"], b"")) for each in given["parts"]]
        if [each["etag"].strip('"') for each in given["parts"]] != tags:
            raise Refused(400, "", "One or more of the specified parts could not be found")
        data = b"".join(parts[number] for number in sorted(parts))
        if self.hub.store.keep(data) != sha256:
            raise Refused(400, "", "The content does not have the given digest")
        self._json({})

    def _verify(self, name: str, kind: str | None = None) -> None:
        self._repository(kind, name, write=True)
        given = json.loads(self.body)
        path = self.hub.store.content(given["oid"])
        if not path.exists() or path.stat().st_size != given["size"]:
            raise Refused(404, "", "Object does not exist")
        self._json({})

    def _commit(self, kind: str, name: str, revision: str) -> None:
        repository = self._repository(kind, name, write=True)
        header, *operations = (json.loads(line) for line in self.body.splitlines())
        assert header["key"] == "header"
        with repository.lock:
            branch = unquote(revision)
            if branch not in repository.refs:
                raise Refused(404, "RevisionNotFound", f"Invalid rev id: {branch}")
            if header["value"].get("parentCommit") not in (None, repository.refs[branch]):
                raise Refused(412, "", "A commit has happened since. Please refresh and try again.")
            files = dict(repository.files(branch))
            for each in operations:
                files[each["value"]["path"]] = self._operation(each["key"], each["value"])
            commit = repository.commit(files, header["value"]["summary"], branch)
        self._json({"success": True, "commitOid": commit, "commitUrl": f"{self.hub.url}/{name}/commit/{commit}",
                    "pullRequestUrl": None, "hookOutput": ""})  # fmt: skip

    def _operation(self, key: str, value: dict[str, Any]) -> Entry:
        if key == "lfsFile":
            path = self.hub.store.content(value["oid"])
            if not path.exists():
                raise Refused(400, "", f"LFS pointer pointed to a file that does not exist: {value['oid']}")
            name = self.hub.xet.names.get(value["oid"]) if self.hub.xet else None
            return Entry(value["size"], blob(pointer(value["oid"], value["size"])), value["oid"], lfs=True, xet=name)
        assert key == "file"
        return self.hub.store.entry(value["path"], base64.b64decode(value["content"]), lfs=False)


@contextmanager
def running(folder: Path, pair: Pair | None = None, address: str = "127.0.0.1") -> Iterator[Hub]:
    """A Hub without repositories, and its storage; with TLS if they get a certificate."""
    hub = Hub(Store(folder))
    servers = [Server((address, 0), type("Handler", (base,), {"hub": hub})) for base in (_HubHandler, StorageHandler)]
    hub.scheme = "https" if pair else "http"
    if pair:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pair.certificate, pair.key)
        for each in servers:
            each.socket = context.wrap_socket(each.socket, server_side=True)
    hub.url, hub.storage = (f"{hub.scheme}://{address}:{each.server_port}" for each in servers)
    for each in servers:
        threading.Thread(target=each.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield hub
    finally:
        for each in servers:
            each.shutdown()
            each.server_close()
