"""``sparingly export``: what was chosen, as tasks of an annotation tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from sparingly.base.errors import UsageError
from sparingly.cli.options import (
    DEFAULT_READ_OPTIONS,
    Json,
    ReadOptions,
    ScaleText,
    Seed,
    emit,
    pairs_of,
    working,
)
from sparingly.cli.parameters import about, repeatable, several
from sparingly.cli.subject import InCampaign, Name, Sources, subject_of

ToolOptions = Annotated[tuple[str, ...], several("An option of the tool, key=value", "--tool-option", "-T")]


def export(
    sources: Sources = (),
    /,
    *,
    to: Annotated[str, about("The tool, such as label-studio; list names them all.")],
    out: Annotated[Path | None, about("The folder for the tool's files.", "--out", "-o")] = None,
    key: Annotated[
        Path | None, about("Where to save the key; default: beside the folder or the campaign.")
    ] = None,
    kind: Annotated[
        str | None,
        about(
            "What raters give: score, pair, ranking or spans; pairs where the selection has pairs, "
            "else scores, by default."
        ),
    ] = None,
    aspect: Annotated[
        tuple[str, ...],
        repeatable(
            "What people judge; repeat for several (default: overall; points for spans).", "--aspect", "-a"
        ),
    ] = (),
    scale: ScaleText = None,
    before: Annotated[int, about("Items of the document to show before an item.")] = 0,
    after: Annotated[int, about("Items of the document to show after an item.")] = 0,
    merge: Annotated[
        bool, about("Ask about equal outputs once; credit all models.", negative="--no-merge")
    ] = True,
    salt: Annotated[str, about("A secret word that makes the models' tokens hard to guess.")] = "",
    assignment: Annotated[
        Path | None, about("Who judges what, from sparingly assign; default: anyone.")
    ] = None,
    controls: Annotated[
        Path | None, about("The control items of the assignment, from sparingly assign.")
    ] = None,
    tool_option: ToolOptions = (),
    name: Name = None,
    seed: Seed = 0,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Write tasks for Label Studio, Argilla, Potato or another annotation tool.

    ```
    sparingly export data.jsonl chosen.json --to label-studio --out for-raters
    ```

    The key file says what the tokens stand for: keep it private; sparingly import needs it.

    ```
    sparingly export --to list
    sparingly export data.jsonl chosen.json --to label-studio --out for-raters --scale 0,100
    sparingly export campaign.db --to argilla -o round-1
    ```
    """
    from sparingly.data import io
    from sparingly.data.texts import check_texts
    from sparingly.run.exchange.export_import import export_tasks
    from sparingly.run.exchange.tool import annotation_tools
    from sparingly.run.raters.assignment import Assignment
    from sparingly.show.terminal.campaign import show_exported, show_tools

    if to == "list":
        tools = annotation_tools()
        rows = [{"tool": tool.name, "summary": tool.summary, "kinds": list(tool.kinds)} for tool in tools]
        emit(rows) if json else show_tools(tools)
        return
    if not sources or out is None:
        raise UsageError(
            f"Name the data and a folder: sparingly export DATA SELECTION --to {to} --out FOLDER"
        )
    settings: dict[str, Any] = {
        "to": to,
        "folder": out,
        "kind": kind,
        "scale": scale,
        "context_before": before,
        "context_after": after,
        "merge": merge,
        "salt": salt,
        "options": pairs_of(tool_option),
    }
    with subject_of(sources, reading, InCampaign(name=name)) as subject:
        if subject.campaign is not None:
            if aspect:
                raise UsageError("A campaign knows what people judge: leave out --aspect.")
            subject.draw_first()
            if not subject.campaign.questions():
                raise UsageError(
                    f"{subject.title}: everything that was chosen is judged. To go on: "
                    f"sparingly campaign next {subject.typed}"
                )
            with working("writing tasks"):
                exported = export_tasks(subject.campaign, key=key or campaign_key(subject.title), **settings)
        else:
            chosen, data = subject.what_to_judge(), subject.data
            check_texts(data)
            with working("writing tasks"):
                exported = export_tasks(
                    data,
                    chosen,
                    assignment=None if assignment is None else Assignment.load(assignment),
                    controls=None if controls is None else io.load(controls),
                    key=key,
                    seed=seed,
                    aspects=aspect or None,
                    **settings,
                )
    emit(exported.to_dict()) if json else show_exported(exported)


def campaign_key(address: str) -> Path | None:
    """Return where the key of a campaign in a file is kept: beside it; a database has no such place."""
    return None if "://" in address else Path(f"{address}.key.json")
