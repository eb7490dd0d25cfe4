"""``sparingly campaign``: a live evaluation, stored in a database."""

from __future__ import annotations

import shlex
import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App

from sparingly.base.errors import EXIT_DONE, EXIT_NO, InputError, UsageError
from sparingly.cli.options import (
    DEFAULT_READ_OPTIONS,
    Json,
    ReadOptions,
    Seed,
    Verbose,
    emit,
    scale_ends,
    working,
)
from sparingly.cli.parameters import about, flag, several
from sparingly.cli.subject import Address, Ask, At, DataName, Name, opened, strategy_to_ask

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.run.campaign.answers import Acknowledgement
    from sparingly.run.campaign.campaign import Campaign


def named_sets(arguments: tuple[str, ...], reading: ReadOptions) -> EvalSet | dict[str, EvalSet]:
    """Load one evaluation set, or several that are written NAME=FILE; all have outputs to show."""
    from sparingly.cli.options import print_roles
    from sparingly.data.texts import check_texts

    def load(path: str) -> EvalSet:
        data = reading.load(Path(path))
        print_roles(data)
        check_texts(data)
        return data

    if len(arguments) == 1 and ("=" not in arguments[0] or Path(arguments[0]).exists()):
        return load(arguments[0])
    parts = [argument.partition("=") for argument in arguments]
    for name, sign, path in parts:
        if not (name and sign and path):
            raise UsageError(f'Several data sets are written NAME=FILE, and "{name}{sign}{path}" is not.')
    if len({name for name, _, _ in parts}) < len(parts):
        raise UsageError(
            "Two data sets have the same name: write each as NAME=FILE, such as de=one.csv uk=two.csv."
        )
    return {name: load(path) for name, _, path in parts}


_HELP = """Run an evaluation with people, in rounds.

```
sparingly campaign new wmt.db data.jsonl -b 200 -a overall --scale 0,100
```

A campaign lives in one database: a SQLite file, or PostgreSQL by its URL (postgresql+psycopg://user@host/name).
"""
campaign = App(name="campaign", help=_HELP)


@campaign.command
def new(
    address: Address,
    data: Annotated[tuple[str, ...], about("The evaluation set, or several as NAME=FILE.")],
    /,
    *,
    ask: Ask = "scores",
    method: Annotated[str, about("A strategy or a method: waves, uniform …", "--method", "-m")] = "auto",
    budget: Annotated[
        str,
        about(
            "Items to judge on all models (or comparisons to make), over all rounds: 100, 10%.",
            "--budget",
            "-b",
        ),
    ],
    aspect: Annotated[tuple[str, ...], several("What people judge", "--aspect", "-a")] = (),
    combine: Annotated[
        str | None, about("With several aspects: how they become one score, such as mean:of=[one,other].")
    ] = None,
    scale: Annotated[str | None, about("The lowest and highest score, such as 0,100.")] = None,
    stop: Annotated[tuple[str, ...], several("When to stop earlier: best_settled …")] = (),
    size: Annotated[
        int | None, about("Items or comparisons in a round; default: the strategy's own number.")
    ] = None,
    seed: Seed = 0,
    name: Annotated[str, about("The campaign's name in its database.")] = "campaign",
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Start a campaign: put the data into a database.

    ```
    sparingly campaign new wmt.db data.jsonl -b 200 -a overall --scale 0,100
    sparingly campaign new wmt.db data.jsonl -m waves -b 200 -a overall --scale 0,100
    sparingly campaign new ab.db ab.jsonl --ask pairs -b 60
    sparingly campaign new wmt.db en-de=ende.jsonl cs-uk=csuk.jsonl -m uniform -b 10% -a esa --size 50
    ```
    """
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.show.terminal.campaign import show_status

    ends = scale_ends(scale)
    with Campaign.new(
        address,
        named_sets(data, reading),
        strategy_to_ask(ask, method),
        budget,
        name=name,
        aspects=aspect or None,
        aspect=combine,
        scale=ends,
        stop=stop,
        size=size,
        seed=seed,
    ) as running:
        status, why = running.status(), running.why()
    emit({**status.to_dict(), "why": why}) if json else show_status(status, why, shlex.quote(address))


@campaign.command(name="next")
def next_(
    address: Address,
    /,
    *,
    data: DataName = None,
    early: Annotated[bool, flag("Draw the next round although answers are missing.")] = False,
    models: Annotated[
        str | None, about("New models with a budget of their own, or new: a round about these alone.")
    ] = None,
    size: Annotated[
        int | None, about("With --models: items in the round; default: all of the budget.")
    ] = None,
    out: Annotated[
        Path | None, about("A form of what is to be judged: .csv, .tsv or .jsonl.", "--out", "-o")
    ] = None,
    name: Name = None,
    preview: Annotated[bool, flag("Say what the next round would ask; draw nothing.")] = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Show what to judge now, and draw the next round when the last one is answered.

    ```
    sparingly campaign next wmt.db -o to-judge.csv
    sparingly campaign next wmt.db --models new -o to-judge.csv
    ```
    """
    from sparingly.show.terminal.campaign import show_steps

    with opened(address, name) as running:
        if preview:
            outlooks = [running.outlook(one) for one in ([data] if data else running.settings.budgets)]
            for one in () if json else outlooks:
                sys.stdout.write(f"{one.data}: round {one.number} would ask for {one.outputs}. {one.when}\n")
            if json:
                emit([one.to_dict() for one in outlooks])
            return
        with working("drawing"):
            named = () if models is None else tuple(models.split(","))
            steps = running.next(data, early=early, models=named, size=size)
        questions = () if out is None else running.questions(data)
        if out is not None and questions:
            from sparingly.cli.options import write_form

            write_form(questions, out)
    if json:
        emit([step.to_dict() for step in steps])
    else:
        show_steps(steps, str(out) if questions else None, verbose=verbose)


@campaign.command
def record(
    address: Address,
    answers: Annotated[
        str, about("A CSV or JSON Lines file of answers; - for standard input.", allow_leading_hyphen=True)
    ],
    /,
    *,
    on_error: Annotated[
        Literal["keep", "rollback"], about("Where an answer is refused: keep the others, or none.")
    ] = "keep",
    batch: Annotated[int, about("How many answers are written together.")] = 500,
    name: Name = None,
    json: Annotated[bool, flag("Print one JSON line for each answer when it is saved.", "--json")] = False,
) -> int:
    """Record answers from a file; exit code 1 where some were refused.

    ```
    sparingly campaign record wmt.db judged.csv
    ```

    Columns: rater, item, model (or first and second), aspect, score, seconds, comment, client, data.

    ```
    sparingly campaign record wmt.db judged.csv --on-error rollback
    ```
    """
    from sparingly.show.terminal.campaign import show_recorded

    if batch < 1:
        raise UsageError(f"A batch is at least one answer, not {batch}.")

    def acknowledge(acknowledgement: Acknowledgement) -> None:
        sys.stdout.write(dumps(acknowledgement.to_dict(), ensure_ascii=False) + "\n")
        sys.stdout.flush()

    with opened(address, name) as running:
        recorded = running.record(
            answers, on_error=on_error, batch=batch, acknowledge=acknowledge if json else None
        )
    if not json:
        show_recorded(recorded)
    return EXIT_NO if recorded.refused else EXIT_DONE


@campaign.command
def status(
    address: Address, /, *, at: At = None, name: Name = None, verbose: Verbose = False, json: Json = False
) -> None:
    """Show where a campaign stands, now or at an earlier entry.

    ```
    sparingly campaign status wmt.db
    sparingly campaign status wmt.db --at 120
    ```
    """
    from sparingly.show.terminal.campaign import show_status

    with opened(address, name) as running:
        current = running.status(at)
    emit(current.to_dict()) if json else show_status(current, typed=shlex.quote(address), verbose=verbose)


@campaign.command
def export(
    address: Address,
    out: Annotated[Path, about(".csv: every answer; .zip: everything; else the judged evaluation set.")],
    /,
    *,
    data: DataName = None,
    at: At = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write all answers (CSV), everything with the log (ZIP), or the judged evaluation set.

    ```
    sparingly campaign export wmt.db answers.csv
    sparingly campaign export wmt.db judged.jsonl --data en-de
    ```
    """
    from sparingly.cli.options import write_rows
    from sparingly.data import io
    from sparingly.data.files import write_bytes
    from sparingly.run.campaign.history import RATING_COLUMNS
    from sparingly.run.campaign.release import bundle_files, file_stem, zip_bytes

    is_zip = out.suffix.lower() == ".zip"
    if is_zip and (data is not None or at is not None):
        raise UsageError("A .zip holds everything: leave out --data and --at, or export to .csv or .jsonl.")
    with opened(address, name) as running:
        if out.suffix.lower() == ".csv":
            rows = running.ratings(at=at)
            write_rows(rows, RATING_COLUMNS, out)
            counts: dict[str, Any] = {"answers": len(rows)}
        elif is_zip:
            files = bundle_files(running)
            counts = {"files": len(files)}
            write_bytes(out, zip_bytes(files, file_stem(running.name, "campaign")))
        else:
            evalset = running.data(data, at=at)
            counts = {"items": len(evalset), "not_carried": io.save(evalset, out)}
    emit({**counts, "written": str(out)}) if json else sys.stdout.write(f"written: {out}\n")


@campaign.command
def add_models(
    address: Address,
    file: Annotated[Path, about("Outputs of the new models on the same items, alone or with the others.")],
    /,
    *,
    budget: Annotated[
        str | None, about("Items to judge the new models on, drawn for them: 60, 10%.", "--budget", "-b")
    ] = None,
    rejudge: Annotated[float, about("With --budget: share of earlier outputs to judge again.")] = 0.1,
    data: DataName = None,
    name: Name = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
) -> None:
    """Add new models to a campaign, with items of their own if there is a budget.

    ```
    sparingly campaign add-models wmt.db new-outputs.jsonl --budget 60
    sparingly campaign next wmt.db --models new
    ```

    With a budget, earlier labels sharpen their scores; without one they are judged on the earlier items.
    """
    with opened(address, name) as running:
        new_models = running.add_models(reading.load(file), data, budget=budget, anchors=rejudge)
    sys.stdout.write(f"added: {', '.join(new_models)}\n")
    if budget is not None:
        sys.stdout.write(f"Next: sparingly campaign next {address} --models new -o to-judge.csv\n")


@campaign.command
def budget(
    address: Address,
    amount: Annotated[
        str, about("Items to judge on all models (or comparisons), over all rounds: 300, 20%.")
    ],
    /,
    *,
    data: DataName = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Change what a running campaign may spend; one that had finished goes on.

    ```
    sparingly campaign budget wmt.db 300
    ```
    """
    with opened(address, name) as running:
        seq = running.set_budget(amount, data)
        _report_action(f"budget {amount}", running.name, seq, json)


@campaign.command
def guidelines(
    address: Address,
    file: Annotated[
        Path | None, about("The new version, in Markdown; default: print the current one.")
    ] = None,
    /,
    *,
    name: Name = None,
) -> None:
    """Write a new version of what raters are told, or print it.

    ```
    sparingly campaign guidelines wmt.db guidelines.md
    ```
    """
    with opened(address, name) as running:
        if file is not None:
            set_guidelines(running, file)
        current = running.guidelines()
    text = "" if current is None else current.text
    sys.stdout.write(text if file is None or current is None else f"written: version {current.version}\n")


def set_guidelines(running: Campaign, file: Path) -> None:
    """Write a new version of the guidelines from a file."""
    from sparingly.data.files import text_lines

    text = "\n".join(line for _, line in text_lines(file))
    try:
        running.set_guidelines(text)
    except InputError as error:
        raise error.at(file=file) from None


@campaign.command
def link(
    address: Address,
    person: Annotated[str, about("Whose link it is.")],
    /,
    *,
    pages: Annotated[Literal["rater", "reviewer", "viewer"], about("Whose pages it opens.")] = "rater",
    retire: Annotated[bool, flag("Revoke all links of this person instead.")] = False,
    name: Name = None,
) -> None:
    """Make a link to the pages of a campaign while they are served, or revoke links.

    ```
    sparingly campaign link wmt.db anna
    sparingly campaign link wmt.db anna --retire
    ```
    """
    from sparingly.run.campaign.access import Access

    with opened(address, name) as running:
        access = Access(running.database, running.name)
        if retire:
            sys.stdout.write(
                f"revoked: {access.retire(person, pages, by='command line')} links of {person}\n"
            )
            return
        token = access.invite(pages, person, by="command line")
    sys.stdout.write(
        f"{pages} {person}: the address of your pages and /{'r' if pages == 'rater' else 'o'}/{token}\n"
    )


@campaign.command
def withdraw(address: Address, model: str, /, *, data: DataName = None, name: Name = None) -> None:
    """Take a model out of a campaign and its results.

    ```
    sparingly campaign withdraw wmt.db model-7
    ```
    """
    with opened(address, name) as running:
        running.withdraw(model, data)
    sys.stdout.write(f"withdrawn: {model}\n")


@campaign.command
def withdraw_rater(
    address: Address,
    rater: str,
    /,
    *,
    reason: Annotated[str, about("The reason, for the log.")] = "",
    back: Annotated[bool, flag("Take their answers in again.")] = False,
    name: Name = None,
) -> None:
    """Leave a rater's answers out of all results; they stay stored, marked as withdrawn.

    ```
    sparingly campaign withdraw-rater wmt.db anna --reason "scores at random"
    ```

    What nobody else has judged is asked again. To count the answers again:

    ```
    sparingly campaign withdraw-rater wmt.db anna --back
    ```
    """
    with opened(address, name) as running:
        running.return_rater(rater) if back else running.withdraw_rater(rater, reason)
    sys.stdout.write(f"{'taken in again' if back else 'withdrawn'}: all answers of {rater}\n")


@campaign.command
def close(address: Address, /, *, name: Name = None) -> None:
    """Close a campaign: no more answers, no more rounds; it can still be read.

    ```
    sparingly campaign close wmt.db
    ```
    """
    with opened(address, name) as running:
        running.close()
        title = running.name
    sys.stdout.write(f"closed: {title}\n")


@campaign.command
def pause(
    address: Address,
    /,
    *,
    reason: Annotated[str, about("The reason, for the log.")] = "",
    name: Name = None,
    json: Json = False,
) -> None:
    """Stop giving out questions; answers are still accepted.

    ```
    sparingly campaign pause wmt.db --reason "new instructions"
    ```
    """
    with opened(address, name) as running:
        _report_action("paused", running.name, running.pause(reason), json)


@campaign.command
def resume(address: Address, /, *, name: Name = None, json: Json = False) -> None:
    """Give out questions again.

    ```
    sparingly campaign resume wmt.db
    ```
    """
    with opened(address, name) as running:
        _report_action("resumed", running.name, running.resume(), json)


def _report_action(action: str, campaign: str, seq: int, json: bool) -> None:
    if json:
        emit({"campaign": campaign, action: seq})
    else:
        sys.stdout.write(f"{action}: {campaign}, at entry {seq}\n")


@campaign.command
def hours(
    address: Address,
    /,
    *,
    out: Annotated[Path | None, about("The sheet: .csv, .tsv or .jsonl.", "--out", "-o")] = None,
    rate: Annotated[float | None, about("The pay for an hour: the sheet then has the amounts due.")] = None,
    at: At = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Show how long every rater worked.

    ```
    sparingly campaign hours wmt.db
    sparingly campaign hours wmt.db --rate 18.50 -o hours.csv
    ```
    """
    from sparingly.cli.options import write_rows
    from sparingly.data.files import without_formulas
    from sparingly.run.campaign.progress import hours_table
    from sparingly.show.terminal.campaign import show_hours

    with opened(address, name) as running:
        columns, rows = hours_table(running.hours(at), rate)
    if out is not None:
        write_rows([without_formulas(row, ("rater",)) for row in rows], columns, out)
    emit(rows) if json else show_hours(rows, None if out is None else str(out))


@campaign.command
def backup(
    address: Address,
    out: Annotated[Path, about("The file to make.")],
    /,
    *,
    name: Name = None,
    json: Json = False,
) -> None:
    """Copy a campaign into a new file while people answer; one on a server, too.

    ```
    sparingly campaign backup wmt.db copy.db
    ```
    """
    with opened(address, name) as running, working("copying"):
        seq = running.back_up(out)
    emit({"written": str(out), "seq": seq}) if json else sys.stdout.write(f"written: {out}, {seq} entries\n")


@campaign.command
def release(
    address: Address,
    out: Annotated[Path, about("The folder to make, or a .zip file.")],
    /,
    *,
    licence: Annotated[str, about("The licence, such as CC-BY-4.0; it goes into the data card.")],
    title: Annotated[str | None, about("What the data card calls it.")] = None,
    comments: Annotated[bool, flag("Also include raters' comments: read them first.")] = False,
    no_texts: Annotated[bool, flag("Without the data sets: ratings and rounds, by ids.")] = False,
    seed: Annotated[
        int | None,
        about(
            "Decides which rater gets which number; default: a new, secret random one.", show_default=False
        ),
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write an anonymised release of the data and ratings.

    ```
    sparingly campaign release wmt.db wmt-release --licence CC-BY-4.0
    sparingly campaign release wmt.db wmt-release.zip --licence CC-BY-4.0 --title "Our evaluation"
    ```
    """
    from sparingly.run.campaign.release import release as write_release
    from sparingly.show.terminal.campaign import show_release

    with opened(address, name) as running, working("writing"):
        files = write_release(
            running, out, texts=not no_texts, licence=licence, title=title, comments=comments, seed=seed
        )
    emit(files.to_dict()) if json else show_release(files)


_COLUMNS = ("seq", "data", "round", "rater", "item", "model", "aspect", "score", "corrects", "marks")


@campaign.command
def marks(
    address: Address,
    out: Annotated[Path, about("A JSON Lines file: one rating a line, with its marks.")],
    /,
    *,
    at: At = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write the errors that raters marked in the texts.

    ```
    sparingly campaign marks wmt.db marks.jsonl
    ```
    """
    from sparingly.cli.options import write_rows
    from sparingly.run.campaign.release import marked_rows

    if out.suffix.lower() != ".jsonl":
        raise UsageError(f'Marks are written as JSON Lines: name the file "{out.stem}.jsonl".')
    with opened(address, name) as running:
        seq = running.status(at).seq
        with running.database.reading() as connection:
            rows = marked_rows(connection, running.name, seq)
    write_rows(rows, _COLUMNS, out)
    emit({"ratings": len(rows), "written": str(out)}) if json else sys.stdout.write(f"written: {out}\n")
