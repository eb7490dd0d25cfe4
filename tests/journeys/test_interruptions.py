"""What goes wrong at the command line: wrong use, bad files, readers that leave, and interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sparingly.cli.app import run as run_here
from sparingly.data.selection import Selection
from tests.journeys.command import DONE, INTERRUPTED, WRONG, run, start
from tests.ordinary_user import as_an_ordinary_user

pytestmark = pytest.mark.journey


# --- wrong use and bad input ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("infp", 'Unknown command "infp"'),
        ("info absent.jsonl", "absent.jsonl: there is no such file."),
        ("methods metric_vra", 'There is no method "metric_vra". Did you mean metric_var'),
        ("select data.jsonl -m random -b 0", "The budget must be a finite number above zero, not 0."),
        ("select data.jsonl -m random -b 5 -o no/x.json", "the folder to write to does not exist."),
        ("writeup selection.json --format word", 'Invalid value "word" for --format.'),
        (
            "agree data.jsonl selection.json --aspect overal",
            'There is no aspect or metric "overal". Did you mean',
        ),
        (
            "convert data.jsonl data.xyz",
            'The extension ".xyz" of data.xyz is not of a format that can be written.',
        ),
        ("demo --out data.jsonl", "data.jsonl: File exists."),
    ],
)
def test_an_error_is_one_line(folder: Path, arguments: str, sentence: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = run(*arguments.split(), cwd=folder, code=WRONG)
    assert done.stdout == ""
    assert done.stderr.startswith("sparingly: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("\n")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before, "nothing is left behind"


def test_a_name_cannot_break_the_line(folder: Path) -> None:
    done = run("select", "data.jsonl", "-m", "random", "-b", "5\n\x1b[31m6", cwd=folder, code=WRONG)
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr


def test_a_set_that_is_cut_short_is_said_with_its_line(folder: Path) -> None:
    whole = (folder / "data.jsonl").read_bytes()
    (folder / "short.jsonl").write_bytes(whole[: len(whole) // 2])
    done = run("select", "short.jsonl", "-m", "random", "-b", "5", "-o", "x.json", cwd=folder, code=WRONG)
    assert done.stderr.startswith("sparingly: short.jsonl, line ")
    assert not (folder / "x.json").exists()


def test_no_permission(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = folder / "data.jsonl"
    assert run_here(["info", str(data)]) == DONE
    data.chmod(0)
    with as_an_ordinary_user():
        assert run_here(["info", str(data)]) == WRONG
    assert "no permission" in capsys.readouterr().err


# --- a reader that leaves ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("select", "--help"),
        ("methods",),
        ("methods", "--json"),
        ("info", "data.jsonl"),
        ("info", "data.jsonl", "--json"),
        ("select", "data.jsonl", "-m", "random", "-b", "100%", "--json"),
        ("writeup", "selection.json"),
        ("verify", "selection.json", "data.jsonl"),
        ("--cite",),
    ],
)
def test_a_reader_that_leaves_early_is_no_error(folder: Path, arguments: tuple[str, ...]) -> None:
    process = start(*arguments, cwd=folder)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    assert process.wait(timeout=120) == DONE
    assert complaint == ""
    process.stderr.close()


def test_piped_to_head(folder: Path) -> None:
    line = "set -o pipefail; sparingly info data.jsonl --json | head -n 1"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (DONE, "{\n", "")


# --- interruptions ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set that takes a while to read."""
    folder = tmp_path_factory.mktemp("large")
    scores = ", ".join(f'"model {place}": {{"m": 0.%(score)d{place}}}' for place in range(10))
    with (folder / "data.jsonl").open("w", encoding="utf-8") as file:
        file.write('{"format": "sparingly/evalset", "version": 1}\n')
        for place in range(60_000):
            file.write('{"item": "i%d", "metrics": {%s}}\n' % (place, scores % {"score": place}))  # noqa: UP031
    return folder


def reads_now(pid: int, path: Path) -> bool:
    """Whether a process has a file open."""
    handles = Path(f"/proc/{pid}/fd")
    try:
        return any(handle.readlink() == path for handle in handles.iterdir())
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it must be seen when the file is being read")
@pytest.mark.parametrize("later", [0.0, 0.4])
def test_an_interruption_leaves_no_half_written_file(large: Path, later: float) -> None:
    process = start("select", "data.jsonl", "-m", "metric_cons", "-b", "10%", "-o", "chosen.json", cwd=large)
    deadline = time.monotonic() + 60
    while not reads_now(process.pid, large / "data.jsonl"):
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(later)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert out == ""
    assert err == "sparingly: interrupted; nothing was half-written.\n"
    assert [path.name for path in large.iterdir()] == ["data.jsonl"]


def test_without_an_interruption_it_is_whole(large: Path, tmp_path: Path) -> None:
    run(
        "select",
        str(large / "data.jsonl"),
        "-m",
        "metric_cons",
        "-b",
        "10%",
        "-o",
        "chosen.json",
        cwd=tmp_path,
    )
    assert len(Selection.load(tmp_path / "chosen.json")) == 6000
