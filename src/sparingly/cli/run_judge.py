"""``sparingly run-judge``: let a language model judge every output, with a rubric of one's own."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from sparingly.base.errors import EXIT_DONE, DataError, UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, emit, working
from sparingly.cli.parameters import about
from sparingly.cli.subject import Sources, is_campaign, subject_of

_INTERRUPTED = 130


def run_judge(
    sources: Sources,
    /,
    *,
    endpoint: Annotated[
        str, about("The API, such as https://api.openai.com/v1 or http://localhost:8000/v1.")
    ],
    model: Annotated[str, about("The model that judges.")],
    rubric: Annotated[Path, about("A text file with your criteria.")],
    scale: Annotated[
        Literal["pass-fail", "1-5", "0-100"], about("How it scores outputs.", "--verdicts")
    ] = "pass-fail",
    ask: Annotated[
        Literal["outputs", "pairs"] | None,
        about("Score outputs, or compare pairs in both orders; default: what the data hold."),
    ] = None,
    name: Annotated[str | None, about("What its verdicts are called: judge-NAME; the model's name.")] = None,
    temperature: Annotated[str, about("Sent to the model; none sends none.")] = "0",
    limit: Annotated[int | None, about("Judge at most this many now; the same command continues.")] = None,
    spend: Annotated[
        float | None, about("Spend at most this much now, by --token-price; the same command continues.")
    ] = None,
    token_price: Annotated[
        str | None, about("What a million tokens cost, sent and written: 0.15/0.60.")
    ] = None,
    rate: Annotated[float | None, about("At most this many calls a minute.", "--calls-a-minute")] = None,
    workers: Annotated[int, about("Calls at a time.")] = 4,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> int:
    """Let a language model judge every output, or every pair, with your rubric.

    ```
    sparingly run-judge a.csv --endpoint https://api.openai.com/v1 --model gpt-4o-mini --rubric rubric.md
    ```

    The only command that uses the network. The API's key is read from SPARINGLY_API_KEY, else from
    OPENAI_API_KEY, and saved nowhere. Verdicts are saved beside the data as they come, and are a metric from
    then on; after an interruption the same command continues.

    ```
    sparingly run-judge a.csv --endpoint http://localhost/v1 --model qwen --rubric rubric.md --verdicts 1-5
    sparingly run-judge ab.jsonl --endpoint … --model gpt-4o --rubric rubric.md --ask pairs --limit 100
    ```
    """
    from sparingly.data import files
    from sparingly.data.io.verdicts import OUTPUTS, PAIRS, verdict_file
    from sparingly.run.judging.endpoint import Endpoint
    from sparingly.run.judging.judge_run import TokenPrice
    from sparingly.run.judging.judge_run import run_judge as run
    from sparingly.run.judging.prompt import JudgePrompt
    from sparingly.show.terminal.console import line

    for option, value in (("--limit", limit), ("--workers", workers)):
        if value is not None and value < 1:
            raise UsageError(f"{option} is 1 or more, not {value}.")
    if any(map(is_campaign, sources)):
        raise UsageError(
            "A judge reads files: sparingly campaign export CAMPAIGN data.jsonl, then run-judge."
        )
    criteria = "\n".join(text for _, text in files.text_lines(rubric))
    asked = Endpoint(endpoint, rate=rate)
    with subject_of(sources, reading) as subject:
        data, places = subject.data, subject.names
        unit = ask or (PAIRS if subject.compares else OUTPUTS)
    title = f"judge-{name or model}"
    settings: dict[str, Any] = {"model": model, "name": title, "limit": limit, "spend": spend}
    settings["token_price"] = None if token_price is None else TokenPrice.parse(token_price)
    settings["temperature"] = _temperature(temperature)
    file = verdict_file(Path(places[0]), title)
    with _stopping() as stop, working("judging") as on_progress:
        result = run(
            data,
            file,
            JudgePrompt(criteria, scale, unit),
            asked,
            workers=workers,
            stop=stop,
            on_judged=None if on_progress is None else lambda done, of: on_progress(done, of, "judging"),
            **settings,
        )
    left = f"the {result.left:,} that are left"
    if json:
        emit(result.to_dict())
    else:
        first, *further = result.sentences()
        line(first, style="bold")
        for sentence in (*further, f"Saved in {file.name}: {result.head}"):
            line(sentence)
    if result.stopped:
        raise DataError(f"{result.stopped} The same command goes on with {left}.")
    if not json:
        then = f"the same command judges {left}." if result.left else f"sparingly judge {shlex.join(places)}"
        line(f"Next: {then}")
    return _INTERRUPTED if stop.is_set() else EXIT_DONE


def _temperature(text: str) -> float | None:
    """Return the temperature to send; None for none."""
    if text.strip().lower() == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise UsageError(f"--temperature is a number from 0 to 2, or none, not {text}.")
    return value


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets: answers under way are saved. The second ends at once."""
    stop = threading.Event()

    def interrupted(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        sys.stderr.write("\nsparingly: saving the answers under way; Ctrl-C again ends at once.\n")

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
