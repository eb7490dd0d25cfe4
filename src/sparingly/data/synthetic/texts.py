"""Made-up texts: a reference, its source in an invented language, and outputs as bad as their quality.

An output is the reference with words replaced, dropped, swapped or repeated; a word is damaged with
probability ``SLIP + DAMAGE · (1 − quality)``. So overlap with the reference follows quality, and good models
agree.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Objects

DETERMINERS = ("the", "a", "this", "every", "another", "one")
PREPOSITIONS = ("in", "near", "under", "behind", "beside", "after", "before", "without", "beyond", "around")
CONJUNCTIONS = ("and", "but", "while", "because", "although", "so", "until", "unless")
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "sh", "tr", "kl", "br")
_RHYMES = ("a", "e", "i", "o", "u", "an", "el", "or", "is", "um", "ai", "ek", "ot", "ul", "en", "ar")


@dataclass(frozen=True)
class Vocabulary:
    """The content words of a domain."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    adverbs: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Every content word."""
        return (*self.nouns, *self.verbs, *self.adjectives, *self.adverbs)


_WORDS = tomllib.loads(resources.files("sparingly.data.synthetic").joinpath("words.toml").read_text("utf-8"))
VOCABULARIES = {
    domain: Vocabulary(**{kind: tuple(words.split()) for kind, words in kinds.items()})
    for domain, kinds in _WORDS.items()
}


def vocabulary_of(domain: str | None) -> Vocabulary:
    """Return the words of a domain; a domain of the user's own borrows the words of a known one."""
    if domain in VOCABULARIES:
        return VOCABULARIES[domain]
    domains = sorted(VOCABULARIES)
    return VOCABULARIES[domains[int(rng.keys_of([domain or ""])[0] % len(domains))]]


@cache
def foreign(word: str) -> str:
    """Return the word's translation into the invented language: always the same, a few syllables."""
    key = int(rng.keys_of([word.lower()])[0])
    syllables = 1 + min(3, len(word) // 4)
    invented = ""
    for _ in range(syllables):
        invented += _ONSETS[key % len(_ONSETS)] + _RHYMES[key // 32 % len(_RHYMES)]
        key //= 1024
    return invented


SLIP, DAMAGE = 0.01, 0.6
SHORTEST = 5
_CLAUSE = 9
_REPLACED, _DROPPED, _SWAPPED = 0.45, 0.70, 0.90


def write_texts(
    words: NDArray[np.int64], domains: Sequence[str | None], quality: Floats, seed: int
) -> tuple[list[str], list[str], Objects]:
    """Return the sources, the references and the outputs (items x models) for qualities between 0 and 1."""
    random = rng.generator(seed, "synthetic", "texts")
    sources, references = [], []
    outputs = np.empty(quality.shape, object)
    for row, (count, domain) in enumerate(zip(words.tolist(), domains, strict=True)):
        vocabulary = vocabulary_of(domain)
        reference = compose(count, vocabulary, iter(random.random(4 * count + 16).tolist()))
        references.append(" ".join(reference))
        sources.append(" ".join(translate(reference)))
        draws = random.random((quality.shape[1], len(reference), 3)).tolist()
        for column, (share, word_draws) in enumerate(zip(quality[row].tolist(), draws, strict=True)):
            outputs[row, column] = " ".join(degrade(reference, share, vocabulary, word_draws))
    return sources, references, outputs


def compose(count: int, vocabulary: Vocabulary, draws: Iterator[float]) -> list[str]:
    """Write sentences of exactly ``count`` words (at least five)."""
    count = max(count, SHORTEST)
    clauses = max(1, count // _CLAUSE)
    # One word of every clause but the first is kept for the conjunction; half of those become full stops.
    joins = [_pick(CONJUNCTIONS, draws) if next(draws) < 0.5 else "" for _ in range(clauses - 1)]
    free = count - SHORTEST * clauses - sum(map(bool, joins))
    text: list[str] = []
    for place in range(clauses):
        extra = free // clauses + (place < free % clauses)
        if place:
            if join := joins[place - 1]:
                text.append(join)
            else:
                text[-1] += "."
        clause = _clause(extra, vocabulary, draws)
        if not place or not joins[place - 1]:
            clause[0] = clause[0].capitalize()
        text += clause
    text[-1] += "."
    return text


def _clause(extra: int, vocabulary: Vocabulary, draws: Iterator[float]) -> list[str]:
    """Write a clause of five words and some more: adjectives, an adverb, further places."""
    tail: list[str] = []
    while extra >= 3 and next(draws) < 0.7:
        tail += [_pick(PREPOSITIONS, draws), _pick(DETERMINERS, draws), _pick(vocabulary.nouns, draws)]
        extra -= 3
    if extra and next(draws) < 0.6:
        tail.append(_pick(vocabulary.adverbs, draws))
        extra -= 1
    first = [_pick(vocabulary.adjectives, draws) for _ in range(extra // 2)]
    second = [_pick(vocabulary.adjectives, draws) for _ in range(extra - extra // 2)]
    subject = [_pick(DETERMINERS, draws), *first, _pick(vocabulary.nouns, draws)]
    object_phrase = [_pick(DETERMINERS, draws), *second, _pick(vocabulary.nouns, draws)]
    return [*subject, _pick(vocabulary.verbs, draws), *object_phrase, *tail]


def _pick(words: Sequence[str], draws: Iterator[float]) -> str:
    return words[int(next(draws) * len(words))]


def translate(text: Sequence[str]) -> list[str]:
    """Translate into the invented language, word by word, full stops kept."""
    return [foreign(word.rstrip(".")) + ("." if word.endswith(".") else "") for word in text]


def degrade(
    text: Sequence[str], quality: float, vocabulary: Vocabulary, draws: Sequence[Sequence[float]]
) -> list[str]:
    """Hurt words of a text in proportion to ``1 − quality``; ``draws`` holds three draws per word."""
    chance = SLIP + DAMAGE * (1.0 - quality)
    result: list[str] = []
    swap = False
    for word, (hurt, kind, pick) in zip(text, draws, strict=True):
        if hurt >= chance:
            replacement = [word]
        elif kind < _REPLACED:
            replacement = [vocabulary.all[int(pick * len(vocabulary.all))]]
        elif kind < _DROPPED:
            replacement = []
        else:
            replacement = [word] if kind < _SWAPPED else [word, word]
        result[len(result) - swap : len(result) - swap] = replacement
        swap = hurt < chance and _DROPPED <= kind < _SWAPPED
    return result or [text[0]]
