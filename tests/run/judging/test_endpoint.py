"""The endpoint misbehaves in every way that is known of real ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from sparingly.base.errors import UsageError
from sparingly.run.judging.endpoint import (
    MOST_BYTES,
    Endpoint,
    EndpointError,
    EndpointRefusedError,
    StoppedError,
)
from tests.run.judging.chat_server import ChatServer, Reply, chat_server

KEY = "sk-very-secret"
BODY = {"model": "m", "messages": [{}, {"content": "hello"}]}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("SPARINGLY_API_KEY", KEY)


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def ask(waits: list[float]) -> Callable[..., str]:
    """Ask an endpoint without waiting; what it would have waited is in ``waits``."""

    def wait(seconds: float) -> bool:
        if seconds:
            waits.append(seconds)
        return False

    return lambda url, **options: Endpoint(url, **options).ask(BODY, wait)


def replies(*parts: Reply | str) -> Callable[[dict[str, object]], Reply | str]:
    left: Iterator[Reply | str] = iter(parts)
    return lambda _: next(left)


def test_an_answer_arrives_with_key_and_address(ask: Callable[..., str]) -> None:
    with chat_server(replies("yes", "yes")) as server:
        assert ask(f"{server.url}?version=2") == "yes"
        assert ask(f"{server.url}/chat/completions/") == "yes"
    assert [headers["path"] for headers in server.headers] == [
        "/v1/chat/completions?version=2",
        "/v1/chat/completions",
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.bodies[0] == BODY


@pytest.mark.parametrize(
    "first",
    [
        Reply(status=429, headers={"Retry-After": "7"}),
        Reply(status=500, content=b"<html>oops</html>"),
        Reply(status=503),
        Reply(content=b"<html>welcome</html>"),
        Reply(content=b'{"choices": []}'),
        Reply(content=b'{"choices": [{"message": {"content": "y', missing=5),
        Reply(content=b"x" * 400, missing=399),
    ],
    ids=["429", "500", "503", "html", "other-json", "half-json", "cut"],
)
def test_what_may_pass_is_tried_again(first: Reply, ask: Callable[..., str], waits: list[float]) -> None:
    with chat_server(replies(first, "yes")) as server:
        assert ask(server.url) == "yes"
    assert len(server.bodies) == 2
    if first.status == 429:
        assert 6.9 < max(waits) <= 7
    else:
        assert 0.5 <= waits[0] <= 1.5


def test_pauses_grow_and_an_end_is_reached(ask: Callable[..., str], waits: list[float]) -> None:
    with (
        chat_server(lambda _: Reply(status=500)) as server,
        pytest.raises(EndpointError, match=r"status 500.*4 times in a row"),
    ):
        ask(server.url, attempts=4)
    assert len(server.bodies) == 4
    assert all(0.5 * 2**place <= pause <= 1.5 * 2**place for place, pause in enumerate(waits))


def test_a_connection_that_is_refused_and_one_that_is_slow(ask: Callable[..., str]) -> None:
    with chat_server(replies()) as gone:
        pass
    with pytest.raises(EndpointError, match="the connection failed"):
        ask(gone.url, attempts=2)
    drip = Reply(content=b"x" * 4000, drip=0.05)
    with chat_server(lambda _: drip) as server:
        start = time.monotonic()
        with pytest.raises(EndpointError, match="no answer in time"):
            ask(server.url, attempts=1, timeout=0.2)
        assert time.monotonic() - start < 3


def test_a_pause_of_an_hour_ends_the_run(ask: Callable[..., str]) -> None:
    with (
        chat_server(lambda _: Reply(status=429, headers={"Retry-After": "3600"})) as server,
        pytest.raises(EndpointError, match="asks to wait 3,600 seconds"),
    ):
        ask(server.url)
    with (
        chat_server(
            lambda _: Reply(status=429, headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"})
        ) as server,
        pytest.raises(EndpointError, match="asks to wait"),
    ):
        ask(server.url)


def test_a_huge_answer_and_a_refusal_concern_one_question(ask: Callable[..., str]) -> None:
    huge = Reply(content=b"x" * (MOST_BYTES + 100_000))
    too_long = Reply(status=400, content=b'{"error": {"message": "too many tokens"}}')
    for reply, reason in ((huge, "longer than"), (too_long, "status 400: too many tokens")):
        with chat_server(replies(reply)) as server, pytest.raises(EndpointRefusedError, match=reason):
            ask(server.url)
    empty = Reply(content=b'{"choices": [{"message": {"content": null}}]}')
    with chat_server(replies(empty)) as server, pytest.raises(EndpointRefusedError, match="wrote no text"):
        ask(server.url)


def test_the_key_goes_to_no_other_host(ask: Callable[..., str]) -> None:
    with chat_server(replies()) as other:
        redirect = Reply(status=307, headers={"Location": f"{other.url}/chat/completions"})
        with chat_server(replies(redirect)) as server, pytest.raises(EndpointError, match="redirects to"):
            ask(server.url)
        assert other.bodies == []


def test_the_key_is_in_no_message(ask: Callable[..., str]) -> None:
    echo = Reply(status=401, content=f'{{"error": {{"message": "wrong key {KEY}"}}}}'.encode())
    with chat_server(replies(echo)) as server, pytest.raises(EndpointError) as raised:
        ask(f"{server.url}?token=hidden")
    assert "wrong key [key]. Is the key in SPARINGLY_API_KEY right" in str(raised.value)
    endpoint = Endpoint("https://example.org/v1?token=hidden")
    for text in (str(raised.value), repr(endpoint), endpoint.host):
        assert KEY not in text
        assert "hidden" not in text


def test_a_key_for_openai_goes_nowhere_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARINGLY_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Endpoint("http://gpu-box:8000/v1")._key == ""
    for url in ("https://gpu-box/v1", "http://localhost:1/v1", "http://[::1]:1/v1"):
        assert Endpoint(url)._key == KEY
    monkeypatch.setenv("SPARINGLY_API_KEY", "other")
    assert Endpoint("http://gpu-box:8000/v1")._key == "other"
    monkeypatch.setenv("SPARINGLY_API_KEY", "two\nlines")
    with pytest.raises(UsageError) as raised:
        Endpoint("https://example.org/v1")
    assert "lines" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["", "example.org/v1", "file:///etc/passwd", "http://", "http://a b/", "http://a:x/"]
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(UsageError, match="--endpoint is a URL such as"):
        Endpoint(url)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="does not belong into the URL") as raised:
        Endpoint("https://me:hidden@example.org/v1")
    assert "hidden" not in str(raised.value)


def test_a_rate_spaces_the_calls(ask: Callable[..., str], waits: list[float]) -> None:
    with chat_server(lambda _: "yes") as server:
        endpoint = Endpoint(server.url, rate=60)
        for _ in range(3):
            endpoint.ask(BODY, lambda seconds: waits.append(seconds) or False)  # type: ignore[func-returns-value]
    assert waits[0] == 0
    assert 0.5 < waits[1] <= 1
    assert 1.5 < waits[2] <= 2
    with pytest.raises(UsageError, match="above zero"):
        Endpoint("https://example.org/v1", rate=0)


def test_who_is_stopped_makes_no_call() -> None:
    def answer(_: object) -> str:
        raise AssertionError

    with chat_server(answer) as server, pytest.raises(StoppedError):
        Endpoint(server.url).ask(BODY, lambda _: True)
    assert isinstance(server, ChatServer)
    assert server.bodies == []
