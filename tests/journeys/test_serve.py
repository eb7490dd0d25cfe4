"""``sparingly serve`` as a user starts it, in a process of its own."""

from __future__ import annotations

import json
import re
import resource
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.journeys.command import parsed, run, start

pytestmark = pytest.mark.journey


@pytest.fixture
def campaign(folder: Path) -> Path:
    """A folder with a campaign that was just begun."""
    run("campaign", "new", "c.db", "data.jsonl", "-m", "uniform", "-b", "4", "-a", "overall", cwd=folder)
    return folder


def test_pages_from_the_first_link_to_the_end(campaign: Path) -> None:
    process = start("serve", "c.db", "--port", "0", "--raters", "anna,ben", cwd=campaign)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    links = dict(line.strip().split(": ", 1) for line in lines[:3])
    assert list(links) == ["organiser", "rater anna", "rater ben"]
    assert all(re.fullmatch(r"http://127\.0\.0\.1:\d+/[ro]/[\w-]{43}", link) for link in links.values())
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        page = browser.get(links["rater anna"])
        assert page.status_code == 200
        assert page.url.path == "/rate"
        question = browser.get(page.url.join("/api/question")).json()
        token = browser.get(page.url.join("/api/progress")).json()["csrf"]
        cards = [{"output": one["output"], "scores": {"overall": 50}} for one in question["outputs"]]
        body = {"page": question["page"], "client": question["client"], "cards": cards, "seconds": 4}
        answer = browser.post(page.url.join("/api/answer"), json=body, headers={"x-csrf-token": token})
        assert answer.json()["new"] >= 1
        foreign = browser.get(page.url.join("/rate"), headers={"host": "evil.example"})
        assert foreign.status_code == 400
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "stopped" in out
    status = parsed(run("campaign", "status", "c.db", "--json", cwd=campaign).stdout)
    assert status["sets"][0]["answers"] == answer.json()["new"]


def test_links_can_go_into_a_file(campaign: Path) -> None:
    process = start(
        *("serve", "c.db", "--port", "0", "--raters", "anna", "--once-links", "links.txt"),
        *("--public", "https://judge.example.org/", "--renew-organiser"),
        cwd=campaign,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written: links.txt\n"
    lines = (campaign / "links.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["organiser", "rater anna"]
    links = [line.split("\t")[1] for line in lines]
    assert all(re.fullmatch(r"https://judge\.example\.org/[ro]/[\w-]{43}", link) for link in links)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "http" not in out


def test_half_open_connections_keep_nobody_out(campaign: Path) -> None:
    """More of them than the system gives the server files: raters come in, and little is logged."""
    most = 400

    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    process = start("serve", "c.db", "--port", "0", "--raters", "anna", cwd=campaign, preexec_fn=few_files)
    assert process.stdout is not None
    links = dict(process.stdout.readline().strip().split(": ", 1) for _ in range(2))
    process.stdout.readline()
    place = httpx.URL(links["rater anna"])
    with ExitStack() as idle:
        idle.callback(process.kill)
        for count in range(most + 100):
            connection = idle.enter_context(socket.create_connection((place.host, place.port), timeout=30))
            connection.sendall(b"GET / HTTP/1.1\r\n" if count % 2 else b"")
        begun = time.monotonic()
        with httpx.Client(follow_redirects=True, timeout=30) as browser:
            assert browser.get(place).status_code == 200
            assert browser.get(place.join("/rate")).status_code == 200
        assert time.monotonic() - begun < 8
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopped" in out
    assert len(err) < 5000


def test_sigterm_finishes_what_was_begun(campaign: Path) -> None:
    process = start("serve", "c.db", "--port", "0", "--raters", "anna", cwd=campaign)
    assert process.stdout is not None
    links = dict(process.stdout.readline().strip().split(": ", 1) for _ in range(2))
    link = httpx.URL(links["rater anna"])
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        browser.get(link)
        question = browser.get(link.join("/api/question")).json()
        token = browser.get(link.join("/api/progress")).json()["csrf"]
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    cards = [{"output": one["output"], "scores": {"overall": 50}} for one in question["outputs"]]
    body = json.dumps({"page": question["page"], "client": question["client"], "cards": cards}).encode()
    head = (
        f"POST /api/answer HTTP/1.1\r\nHost: 127.0.0.1:{link.port}\r\nCookie: {cookies}\r\n"
        f"X-CSRF-Token: {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    # Half of an answer is under way when the server is told to stop.
    with socket.create_connection(("127.0.0.1", link.port or 0)) as connection:
        connection.settimeout(30)
        connection.sendall(head.encode() + body[:20])
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        connection.sendall(body[20:])
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "stopped" in out
    status = parsed(run("campaign", "status", "c.db", "--json", cwd=campaign).stdout)
    # Outputs with the same text are one card.
    assert status["sets"][0]["answers"] >= len(cards)


def test_who_asks_too_much_behind_a_proxy_is_that_one_alone(campaign: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start(
        "serve", "c.db", "--port", str(port), "--public", "https://example.org/judge", cwd=campaign
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.readline()
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"host": "example.org"}) as proxy:

        def ask(*addresses: str) -> int:
            said = {"x-forwarded-for": ", ".join(addresses), "x-forwarded-proto": "https"}
            return proxy.get("/judge/", headers=said).status_code

        for _ in range(3000):
            if (status := ask("198.51.100.7")) != 401:
                break
        assert status == 429
        # What a stranger says of itself stands before what the proxy says of it, and counts for nothing.
        assert ask("192.0.2.1", "198.51.100.7") == 429
        assert ask("198.51.100.8") == 401
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def test_two_campaigns_on_one_server(campaign: Path) -> None:
    run("campaign", "new", "d.db", "data.jsonl", "-m", "uniform", "-b", "4", "-a", "overall", cwd=campaign)
    process = start(
        "serve", "c.db", "d.db", "--port", "0", "--raters", "anna", "--viewers", "eva", cwd=campaign
    )
    assert process.stdout is not None
    links = dict(process.stdout.readline().strip().split(": ", 1) for _ in range(5))
    assert list(links) == ["organiser", "c, rater anna", "c, viewer eva", "d, rater anna", "d, viewer eva"]
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        page = browser.get(links["organiser"])
        assert {"/c/organiser", "/d/organiser"} <= set(re.findall(r'href="([^"]+)"', page.text))
        assert browser.get(page.url.join("/health")).text == "ok"
        assert browser.get(links["d, rater anna"]).url.path == "/d/rate"
    process.send_signal(signal.SIGINT)
    assert "stopped" in process.communicate(timeout=60)[0]
