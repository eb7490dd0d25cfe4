"""Made-up raters: severity, noise, seconds, and who judges what."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from sparingly.data.describe import describe
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import make_evalset


@pytest.fixture(scope="module")
def data() -> EvalSet:
    return make_evalset(1500, 6, raters=5, raters_per_cell=1.4, texts=False, latent=True)


def errors(data: EvalSet) -> NDArray[np.float64]:
    ratings = data.ratings
    return np.asarray(ratings.score - data.aspects["latent_quality"][ratings.item, ratings.model])


def test_scores_are_whole_numbers_on_the_scale(data: EvalSet) -> None:
    scores = data.ratings.score
    assert (scores == scores.round()).all()
    assert (scores.min(), scores.max()) == (0, 100)


def test_every_output_has_its_raters(data: EvalSet) -> None:
    found = describe(data).ratings
    assert found is not None
    assert found.duplicates == 0
    assert found.cells == 1500 * 6 * 2
    assert found.repeated_share == pytest.approx(0.4, abs=0.02)
    assert found.count == pytest.approx(1.4 * found.cells, rel=0.02)


def test_whole_numbers_of_raters() -> None:
    found = describe(make_evalset(40, 3, raters=3, raters_per_cell=3, texts=False)).ratings
    assert found is not None
    assert (found.count, found.repeated_share) == (40 * 3 * 3 * 2, 1.0)


def test_raters_differ_in_severity(data: EvalSet) -> None:
    error = errors(data)
    of_overall = data.ratings.aspect == data.ratings.aspects.index("overall")
    means = [error[of_overall & (data.ratings.rater == rater)].mean() for rater in range(5)]
    assert np.ptp(means) > 3.0


def test_raters_are_noisy_but_follow_quality(data: EvalSet) -> None:
    error = errors(data)
    of_overall = data.ratings.aspect == data.ratings.aspects.index("overall")
    assert 5.0 < error[of_overall].std() < 15.0
    truth, judged = data.aspects["latent_quality"].ravel(), data.aspects["overall"].ravel()
    assert np.corrcoef(truth, judged)[0, 1] > 0.85


def test_a_rater_takes_a_model_s_whole_document(data: EvalSet) -> None:
    single = make_evalset(200, 4, raters=5, raters_per_cell=1, texts=False)
    seen: dict[tuple[str, int], set[int]] = {}
    for item, model, rater in zip(
        *(getattr(single.ratings, name) for name in ("item", "model", "rater")), strict=True
    ):
        seen.setdefault((single.columns["document"][item], int(model)), set()).add(int(rater))
    assert all(len(raters) == 1 for raters in seen.values())
    assert len({next(iter(raters)) for raters in seen.values()}) == 5


def test_longer_items_take_longer_and_cost_tells_so(data: EvalSet) -> None:
    ratings, words = data.ratings, data.columns["words"]
    assert (ratings.seconds > 0).all()
    assert np.corrcoef(ratings.seconds, words[ratings.item])[0, 1] > 0.3
    spent = np.bincount(ratings.item, ratings.seconds, minlength=len(data))
    assert np.corrcoef(spent, data.columns["cost"])[0, 1] > 0.7
    # The cost is that of one judgement of every output; there are 1.4 of them here.
    assert spent.mean() / 1.4 == pytest.approx(data.columns["cost"].mean(), rel=0.25)
