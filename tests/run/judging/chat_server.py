"""A chat endpoint on this machine that answers as it is told to, and misbehaves as it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the server sends: a status, headers and bytes, all of them or fewer than announced."""

    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    drip: float = 0.0


Answer = Callable[[dict[str, Any]], Reply | str]


@dataclass
class ChatServer:
    """What the server was asked, and under which address."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def shown(body: dict[str, Any]) -> str:
    """Return what the model is shown."""
    return str(body["messages"][1]["content"])


@contextmanager
def chat_server(answer: Answer, usage: dict[str, int] | None = None) -> Iterator[ChatServer]:
    """Serve on a free port; ``answer`` returns what the model writes (with this usage), or a whole reply."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                server.bodies.append(body)
                server.headers.append({**dict(self.headers), "path": self.path})
            reply = answer(body)
            if isinstance(reply, str):
                completion = {"choices": [{"message": {"content": reply}}], "usage": usage}
                reply = Reply(json.dumps(completion).encode())
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                sent = reply.content[: len(reply.content) - reply.missing]
                step = 8 if reply.drip else max(len(sent), 1)
                for start in range(0, len(sent), step):
                    self.wfile.write(sent[start : start + step])
                    done.wait(reply.drip)
            except OSError:
                pass
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    done = threading.Event()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = ChatServer(f"http://127.0.0.1:{http.server_address[1]}/v1")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        done.set()
        http.shutdown()
        http.server_close()
