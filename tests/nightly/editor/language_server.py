"""A headless editor: it starts the YAML language server and speaks LSP with it, as VS Code does."""

import itertools
import json
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.nightly.editor.npm import NODE

Message = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """What the editor underlines. Lines count from 1, as people count them."""

    line: int
    text: str


class Editor:
    """One workspace that is open in an editor. Files are opened with the text that they are to have there."""

    def __init__(self, process: "subprocess.Popen[bytes]", root: Path, settings: Mapping[str, Any]) -> None:
        self._process, self._root, self._settings = process, root, settings
        self._numbers = itertools.count(1)
        self._published: deque[Message] = deque()
        self._configured = False
        folder = {"uri": root.as_uri(), "name": root.name}
        self._request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": {
                    "workspace": {"configuration": True, "workspaceFolders": True},
                    "textDocument": {"completion": {"completionItem": {"documentationFormat": ["markdown"]}}},
                },
            },
        )
        self._notify("initialized", {})
        self._notify("workspace/didChangeConfiguration", {"settings": None})
        while not self._configured:
            self._receive()
        # What it does with the settings is done when it answers what comes after them.
        self._request("textDocument/foldingRange", {"textDocument": {"uri": self.uri("none.yaml")}})

    def uri(self, path: str) -> str:
        """The address of a file of the workspace."""
        return (self._root / path).as_uri()

    def problems(self, path: str, text: str) -> list[Problem]:
        """What it finds in a text under a path of the workspace."""
        with self.opened(path, text) as uri:
            told = self._told(uri)
        return [Problem(each["range"]["start"]["line"] + 1, each["message"]) for each in told["diagnostics"]]

    def completions(self, path: str, text: str) -> list[Message]:
        """What it offers at the mark `|`."""
        return list(self._at_mark("textDocument/completion", path, text)["items"])

    def hover(self, path: str, text: str) -> str:
        """What it shows over the mark `|`."""
        answer = self._at_mark("textDocument/hover", path, text)
        return str(answer["contents"]["value"]) if answer else ""

    def _at_mark(self, method: str, path: str, text: str) -> Any:
        before, _, after = text.partition("|")
        position = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        with self.opened(path, before + after) as uri:
            return self._request(method, {"textDocument": {"uri": uri}, "position": position})

    @contextmanager
    def opened(self, path: str, text: str) -> Iterator[str]:
        """The file as it is open in the editor; gives its address."""
        uri = self.uri(path)
        document = {"uri": uri, "languageId": "yaml", "version": next(self._numbers), "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})
        try:
            yield uri
        finally:
            # What it finds comes some time after the opening, and would else be taken for that of the next text here.
            self._told(uri)
            self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            # On closing it takes back what it said; that is behind us when it answers.
            self._request("textDocument/foldingRange", {"textDocument": {"uri": self.uri("none.yaml")}})
            self._published.clear()

    def _told(self, uri: str) -> Message:
        """What it has published of an open file."""
        while True:
            if told := next((each for each in self._published if each["uri"] == uri), None):
                return told
            self._receive()

    def _request(self, method: str, parameters: Any) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def _notify(self, method: str, parameters: Any) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> Message:
        """The next message; what the server asks of the editor is answered."""
        assert self._process.stdout
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the server has ended"
        message: Message = json.loads(self._process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self._published.append(message["params"])
        elif "id" in message and "method" in message:
            self._send({"id": message["id"], "result": self._answer(message)})
        return message

    def _answer(self, message: Message) -> Any:
        if message["method"] != "workspace/configuration":
            return None
        self._configured = True
        return [self._settings.get(each["section"]) for each in message["params"]["items"]]


@contextmanager
def editing(packages: Path, root: Path, settings: Mapping[str, Any]) -> Iterator[Editor]:
    """An editor on the folder `root`. `settings` are by section."""
    program = packages / "yaml-language-server" / "bin" / "yaml-language-server"
    process = subprocess.Popen([NODE, program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield Editor(process, root, settings)
    finally:
        process.kill()
        process.communicate()
