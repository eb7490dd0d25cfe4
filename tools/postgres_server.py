"""A real PostgreSQL server in a temporary folder, for tests and benchmarks.

``python tools/postgres_server.py`` starts one, prints its address and stops it when interrupted. The server
programs come with the system's packages (``apt-get install postgresql``). It runs as an ordinary user, as
PostgreSQL refuses the superuser, and listens on a socket in its own folder, so that no port is needed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

USER = "sparingly"
_INSTALLED = Path("/usr/lib/postgresql")
_MEMORY = Path("/dev/shm")  # noqa: S108 - asked for by its name
_NUMBER = count(1)


class NoServerError(RuntimeError):
    """There is no PostgreSQL server to start."""


@dataclass(frozen=True)
class Server:
    """A server that is running."""

    programs: Path
    folder: Path

    def new_address(self) -> str:
        """Make an empty place for tables and return its URL."""
        name = f"campaign_{os.getpid()}_{next(_NUMBER)}"
        self.sql(f"CREATE SCHEMA {name}")
        return f"postgresql+psycopg://{USER}@/postgres?host={self.folder}&options=-csearch_path%3D{name}"

    def sql(self, statement: str) -> None:
        """Run a statement as the owner of the server."""
        import psycopg

        with psycopg.connect(
            f"host={self.folder} user={USER} dbname=postgres", autocommit=True
        ) as connection:
            connection.execute(statement.encode())

    def crash(self) -> None:
        """Stop the server at once, as a power cut would: connections break, and nothing is tidied up."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=200"
        self._control("start", "-l", str(self.folder / "log"), "-o", settings)

    def _control(self, *arguments: str) -> None:
        _run([str(self.programs / "pg_ctl"), "-w", "-D", str(self.folder / "data"), *arguments])


def find_programs() -> Path:
    """Return the folder of the server programs; installed first under CI=true, where that is possible."""
    found = _programs()
    if found is None and os.environ.get("CI", "").lower() == "true" and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (
            ["apt-get", "update", "-q"],
            ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-q", "-y", "postgresql"],
        ):
            subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
        found = _programs()
    if found is None:
        raise NoServerError("PostgreSQL is not installed: apt-get install postgresql")
    return found


@contextmanager
def running_server(place: Path | None = None, *, in_memory: bool = False) -> Iterator[Server]:
    """Yield a server with nothing in it, in a place; its folder is gone afterwards.

    With ``in_memory`` the folder lies in memory where the system has such a place: as good for crashes of
    processes, and much quicker; not for measuring.
    """
    programs = find_programs()
    memory = _MEMORY if in_memory and os.access(_MEMORY, os.W_OK) else place
    folder = Path(tempfile.mkdtemp(prefix="sparingly-postgres-", dir=memory))
    server = Server(programs, folder)
    try:
        if os.geteuid() == 0:
            owner = _ordinary_user()
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        _run(
            [
                str(programs / "initdb"),
                "-D",
                str(folder / "data"),
                "-U",
                USER,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-sync",
            ]
        )
        server.start()
        try:
            yield server
        finally:
            server.crash()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    beside = shutil.which("initdb")
    if beside is not None:
        return Path(beside).resolve().parent
    known = sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return known[-1].parent if known else None


def _ordinary_user() -> pwd.struct_passwd:
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _run(command: list[str]) -> None:
    options: dict[str, Any] = {}
    if os.geteuid() == 0:
        owner = _ordinary_user()
        options = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    done = subprocess.run(
        command, cwd="/", capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options
    )
    if done.returncode != 0:
        raise NoServerError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()}")


def main() -> int:
    """Run a server until it is interrupted."""
    with running_server() as server:
        sys.stdout.write(f"{server.new_address()}\n")
        sys.stdout.flush()
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
