"""Opaque names of letters only: some tools refuse or split names with digits, ``+`` or parentheses."""

from __future__ import annotations

from collections.abc import Iterable

from sparingly.base import rng
from sparingly.base.errors import DataError

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MODEL_LETTERS, TASK_LETTERS = 8, 12


def letters(seed: int, salt: str, purpose: str, names: Iterable[str], count: int) -> list[str]:
    """Return ``count`` small letters per name: a hash of the seed, the salt, the purpose and the name."""
    keys = rng.keys_of([f"{salt}\x1f{name}" for name in names])
    found = []
    for number in map(int, rng.stream(keys, seed, purpose)):
        text = ""
        for _ in range(count):
            number, letter = divmod(number, len(LETTERS))
            text += LETTERS[letter]
        found.append(text)
    return found


def model_tokens(models: Iterable[str], seed: int, salt: str = "") -> dict[str, str]:
    """Return the token of every model: the same in every round and file of one seed and salt."""
    names = sorted(set(models))
    tokens = letters(seed, salt, "model tokens", names, MODEL_LETTERS)
    if len(set(tokens)) < len(names):
        raise DataError("Two models have the same token by chance. Take another seed.")
    return dict(zip(names, tokens, strict=True))


def task_id(seed: int, salt: str, *parts: object) -> str:
    """Return the opaque id of a task by what makes it one: its item, round, models, rater and so on."""
    name = "\x1f".join("" if part is None else str(part) for part in parts)
    return letters(seed, salt, "tasks", [name], TASK_LETTERS)[0]
