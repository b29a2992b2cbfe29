"""A server that lists any requested number of keys, and stores none of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from tests.http_server import QuietHandler, serving

PAGE = 1000


class _Pages(QuietHandler):
    protocol_version = "HTTP/1.1"
    count: int

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if "list-type" not in query:
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
            return
        begin = int(query.get("continuation-token", ["0"])[0])
        end = min(begin + PAGE, self.count)
        prefix = query["prefix"][0]
        entries = "".join(
            f"<Contents><Key>{prefix}{number // 1000:06}/some-image-of-a-data-set-{number:09}.jpeg</Key>"
            f"<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;{number:032x}&quot;</ETag>"
            f"<Size>1</Size></Contents>"
            for number in range(begin, end)
        )
        more = end < self.count
        token = f"<NextContinuationToken>{end}</NextContinuationToken>" if more else ""
        flag = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        self._answer(200, f"<ListBucketResult>{flag}{token}{entries}</ListBucketResult>".encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response_only(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def pages(count: int) -> Iterator[str]:
    """URL of a running stub."""
    with serving(type("Pages", (_Pages,), {"count": count})) as url:
        yield url
