"""Why an answer is not taken, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlalchemy import Connection

from sparingly.base.errors import DataError, SparinglyError, UnknownNameError
from sparingly.data.io.words import SCALE
from sparingly.run.campaign.answers import Answer
from sparingly.run.campaign.library import Library
from sparingly.run.campaign.settings import Settings


class RefusedError(DataError):
    """An answer that does not belong to the campaign."""


def aspect_of(settings: Settings, answer: Answer) -> str:
    """Return the aspect of an answer: the one it names, or the only one that is asked for."""
    if answer.aspect is None and len(settings.aspects) == 1:
        return next(iter(settings.aspects))
    if answer.aspect is None:
        raise RefusedError(f"The answer names none of the aspects {', '.join(settings.aspects)}.")
    if answer.aspect not in settings.aspects:
        raise UnknownNameError("aspect", answer.aspect, settings.aspects)
    return answer.aspect


def cell_of(answer: Answer) -> tuple[str, str, float]:
    """Return the two models of an answer (the second empty for a single output), and its score.

    A pair is kept in the order of the names, its sign turned where it was given the other way round.
    """
    if answer.pair is None:
        if answer.model is None:
            raise RefusedError("The answer names no model.")
        return answer.model, "", float(answer.score)
    first, second = sorted(answer.pair)
    turned = (first, second) != tuple(answer.pair)
    return first, second, -answer.score + 0.0 if turned else float(answer.score)


def check_score(settings: Settings, aspect: str, answer: Answer) -> None:
    """Refuse a score that is no number, or outside the scale."""
    if not math.isfinite(answer.score):
        raise RefusedError(f"The score {answer.score} of the item {answer.item} is no finite number.")
    ends = (-1.0, 1.0) if answer.pair is not None else settings.aspects[aspect]
    if answer.word and (answer.pair is not None or ends != SCALE):
        raise RefusedError(
            f'The score "{answer.word}" of the item "{answer.item}" is a word, and {aspect} is scored in '
            "numbers: words go with a scale from 0 to 1."
        )
    if ends is not None and not ends[0] <= answer.score <= ends[1]:
        raise RefusedError(
            f'The score {answer.score:g} of the item "{answer.item}" is outside the scale of {aspect}, '
            f"{ends[0]:g} to {ends[1]:g}."
        )


def why_not_asked(
    connection: Connection, library: Library, sets: Sequence[str], answer: Answer, seq: int
) -> SparinglyError:
    """Say why a cell has no place: unknown, or known and not asked for."""
    held = {name: library.at(connection, name, seq) for name in sets}
    within = {name: data for name, data in held.items() if answer.item in set(data.items)}
    if not within:
        return UnknownNameError(
            "item", answer.item, [str(one) for data in held.values() for one in data.items[:500]]
        )
    models = sorted({model for data in within.values() for model in data.models})
    for name in answer.pair or (answer.model or "",):
        if name not in models:
            return UnknownNameError("model", name, models)
    whom = f'"{answer.model}"' if answer.pair is None else " and ".join(f'"{name}"' for name in answer.pair)
    return RefusedError(f'Nobody was asked to judge {whom} on the item "{answer.item}".')
