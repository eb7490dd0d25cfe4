"""Made-up texts: lengths, the invented language, and damage that follows quality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from sparingly.data.describe.metrics import correlation
from sparingly.data.synthetic import make_evalset
from sparingly.data.synthetic.texts import VOCABULARIES, compose, degrade, foreign, translate, vocabulary_of

NEWS = VOCABULARIES["news"]
TEXT = ["The", "mayor", "opened", "the", "bridge."]
UNHURT = [1.0, 0.0, 0.0]


@given(st.integers(1, 120), st.integers(0, 2**32 - 1), st.sampled_from(sorted(VOCABULARIES)))
def test_a_text_has_as_many_words_as_asked(count: int, seed: int, domain: str) -> None:
    draws = iter(np.random.default_rng(seed).random(4 * count + 40).tolist())
    text = compose(count, VOCABULARIES[domain], draws)
    assert len(text) == max(count, 5)
    assert all(word and " " not in word for word in text)
    assert text[0][0].isupper()
    assert text[-1].endswith(".")


@given(st.integers(5, 80), st.integers(0, 2**32 - 1))
def test_draws_suffice_for_any_text(count: int, seed: int) -> None:
    compose(count, NEWS, iter(np.random.default_rng(seed).random(4 * count + 16).tolist()))


def test_perfect_outputs_and_each_kind_of_damage() -> None:
    def hurt(kind: float, which: float = 0.0) -> list[str]:
        return degrade(TEXT, 0.0, NEWS, [UNHURT, [0.0, kind, which], UNHURT, UNHURT, UNHURT])

    assert degrade(TEXT, 1.0, NEWS, [[0.5, 0.0, 0.0]] * 5) == TEXT
    assert hurt(0.0) == ["The", NEWS.all[0], "opened", "the", "bridge."]
    assert hurt(0.5) == ["The", "opened", "the", "bridge."]
    assert hurt(0.8) == ["The", "opened", "mayor", "the", "bridge."]
    assert hurt(0.95) == ["The", "mayor", "mayor", "opened", "the", "bridge."]


def test_an_output_is_never_empty() -> None:
    assert degrade(TEXT, 0.0, NEWS, [[0.0, 0.5, 0.0]] * 5) == ["The"]


def test_the_invented_language_is_a_language() -> None:
    assert foreign("Bridge") == foreign("bridge") != "bridge"
    assert translate(["the", "bridge."])[1].endswith(".")
    words = {word for vocabulary in VOCABULARIES.values() for word in vocabulary.all}
    assert len({foreign(word) for word in words}) > 0.95 * len(words)


def test_an_unknown_domain_borrows_words() -> None:
    assert vocabulary_of("law") is vocabulary_of("law")
    assert vocabulary_of("law") in VOCABULARIES.values()
    assert vocabulary_of(None) in VOCABULARIES.values()


@pytest.mark.statistics
def test_overlap_with_the_reference_follows_quality() -> None:
    data = make_evalset(400, 8, seed=2, latent=True, raters=0)
    assert data.outputs is not None
    assert data.reference_texts is not None
    overlap = np.array(
        [
            [Indel.normalized_similarity(text, reference) for text in row]
            for row, reference in zip(data.outputs, data.reference_texts[:, 0], strict=True)
        ]
    )
    found = correlation(overlap, data.aspects["latent_quality"])
    assert found.pooled is not None
    assert found.within is not None
    assert found.pooled > 0.7
    assert found.within > 0.5
    order = np.argsort(data.aspects["latent_quality"].mean(axis=0))
    assert np.corrcoef(overlap.mean(axis=0)[order], np.arange(8))[0, 1] > 0.9


def test_sources_have_the_words_that_the_column_says() -> None:
    data = make_evalset(60, 2)
    assert data.sources is not None
    assert [len(source.split()) for source in data.sources] == data.columns["words"].tolist()
    assert len(set(data.sources)) > 55
