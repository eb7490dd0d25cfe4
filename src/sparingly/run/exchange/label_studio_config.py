"""The labelling config of Label Studio: which tags show a task and take the answers.

Names of tags say what they ask: ``score_ASPECT_SLOT``, ``preference_ASPECT``, ``tie_ASPECT``,
``ranking_ASPECT``, ``spans_SLOT`` and ``comment``, with numbers from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.slots import HEADINGS, slot_count, slot_label
from sparingly.run.exchange.tasks import Tasks

LEFT, TIE, RIGHT = "left", "tie", "right"
SEVERITIES = ("minor", "major", "critical")


def labelling_config(
    tasks: Tasks, texts: Sequence[str], *, pairwise: bool = False, ties: bool = False
) -> str:
    """Return the XML of a project for these tasks, with some of the texts around the outputs.

    ``pairwise`` shows pairs by a Pairwise tag, which has no tie, with a Choices tag for the tie beside it;
    ``ties`` gives rankings buckets, in which several outputs may share a rank.
    """
    lines = ["<View>"]
    for name in texts:
        lines += [_tag("Header", value=HEADINGS[name]), _tag("Text", name=name, value=f"${name}")]
    kinds = {"score": _scores, "spans": _scores, "ranking": _rankings, "pair": _pairs}
    lines += kinds[tasks.kind](tasks, ties if tasks.kind == "ranking" else pairwise)
    target = "outputs" if tasks.kind == "ranking" else "output_1"
    lines += [
        _tag("Header", value="Comment"),
        _tag("TextArea", name="comment", toName=target, rows="2", editable="true"),
        "</View>",
    ]
    return "\n".join(lines) + "\n"


def _scores(tasks: Tasks, _: bool) -> list[str]:
    least, most = slot_count(tasks)
    lines: list[str] = []
    for slot in range(1, most + 1):
        lines += [
            _tag("Header", value=f"Output {slot_label(slot)}"),
            *(_span_labels(slot) if tasks.kind == "spans" else ()),
            _tag("Text", name=f"output_{slot}", value=f"$output_{slot}", granularity="symbol"),
        ]
        for place, (aspect, scale) in enumerate(tasks.scales.items(), 1):
            lines += [
                _tag("Header", value=f"{aspect} ({scale})", size="5"),
                _number(place, slot, scale, required=slot <= least),
            ]
    return lines


def _number(place: int, slot: int, scale: Scale, *, required: bool) -> str:
    whole = scale.low == int(scale.low) and scale.high == int(scale.high) and scale.high - scale.low > 1
    return _tag(
        "Number",
        name=f"score_{place}_{slot}",
        toName=f"output_{slot}",
        min=f"{scale.low:g}",
        max=f"{scale.high:g}",
        step="1" if whole else f"{(scale.high - scale.low) / 100:g}",
        slider="true",
        required="true" if required else "false",
    )


def _span_labels(slot: int) -> list[str]:
    labels = [f"  {_tag('Label', value=severity)}" for severity in SEVERITIES]
    return [
        _tag("Labels", close=False, name=f"spans_{slot}", toName=f"output_{slot}"),
        *labels,
        "</Labels>",
    ]


def _pairs(tasks: Tasks, pairwise: bool) -> list[str]:
    lines: list[str] = []
    for slot, side in ((1, LEFT), (2, RIGHT)):
        lines += [
            _tag("Header", value=f"Output {slot_label(slot)} ({side})"),
            _tag("Text", name=f"output_{slot}", value=f"$output_{slot}"),
        ]
    for place, aspect in enumerate(tasks.aspects, 1):
        lines.append(_tag("Header", value=f"Which is better: {aspect}?", size="5"))
        if pairwise:
            lines.append(_tag("Pairwise", name=f"preference_{place}", toName="output_1,output_2"))
            lines += _choices(f"tie_{place}", (TIE,), required=False)
        else:
            lines += _choices(f"preference_{place}", (LEFT, TIE, RIGHT), required=True)
    return lines


def _choices(name: str, values: tuple[str, ...], *, required: bool) -> list[str]:
    return [
        _tag(
            "Choices",
            close=False,
            name=name,
            toName="output_1",
            choice="single",
            showInline="true",
            required="true" if required else "false",
        ),
        *(f"  {_tag('Choice', value=value)}" for value in values),
        "</Choices>",
    ]


def _rankings(tasks: Tasks, ties: bool) -> list[str]:
    lines = [_tag("List", name="outputs", value="$outputs", title="Outputs")]
    for place, aspect in enumerate(tasks.aspects, 1):
        lines.append(_tag("Header", value=f"Best first: {aspect}", size="5"))
        if not ties:
            lines.append(_tag("Ranker", name=f"ranking_{place}", toName="outputs"))
            continue
        lines.append(_tag("Ranker", close=False, name=f"ranking_{place}", toName="outputs"))
        for rank in range(1, slot_count(tasks)[1] + 1):
            # Names must differ between rankers, too.
            lines.append(f"  {_tag('Bucket', name=f'rank_{place}_{rank}', title=f'Rank {rank}')}")
        lines.append("</Ranker>")
    return lines


def _tag(tag: str, *, close: bool = True, **attributes: str) -> str:
    written = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{written}{'/' if close else ''}>"
