"""Pools scored by a distilled model: its numbers, whoever computes them, and the texts it does not know."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, InputError, UnknownNameError, UsageError
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.scorers import parse_scoring
from sparingly.choose.pool.select import select_pool
from sparingly.run.verify import verify_pool
from tests.choose.distil.made_past import made_past, source
from tests.choose.pool.pool_data import write_pool

ODD = "猫は木の下で眠る"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, one of whose utilities cannot be learned, and a pool in two files."""
    folder = tmp_path_factory.mktemp("told")
    noise = np.random.default_rng(2).normal(size=(80, 2))
    utilities = ["hard=metric_avg:metric=score", "noise=metric_avg:metric=noise"]
    sparingly.distil(made_past().with_metric("noise", noise), utilities).save(folder / "model.skops")
    records = [{"id": f"s{place}", "text": source(place)[0]} for place in range(500, 560)]
    write_pool(
        folder / "pool", [("jsonl", records[:30]), ("csv", [*records[30:], {"id": "odd", "text": ODD}])]
    )
    return folder


@pytest.fixture(scope="module")
def pool(folder: Path) -> ScoredPool:
    return score_pool(
        folder / "pool", folder / "scored", by=f"distilled:model={folder / 'model.skops'},utility=hard"
    )


def test_the_model_tells_the_utility(folder: Path, pool: ScoredPool) -> None:
    model = sparingly.load_distilled(folder / "model.skops")
    texts = pool.column("source").to_series().to_list()
    assert np.array_equal(pool.column("utility").to_series().to_numpy(), model.predict(texts, "hard"))
    assert pool.by == f"distilled:utility=hard,digest={model.digest}"
    assert "learned on Alpha-7B, Beta: if one of them is judged" in pool.notes[-1]


def test_workers_batches_and_the_models_place_change_nothing(folder: Path, pool: ScoredPool) -> None:
    moved = Path(shutil.copy(folder / "model.skops", folder / "moved.skops"))
    by = f"distilled:model={moved},utility=hard"
    for name, options in {"jobs": {"jobs": 2}, "batch": {"batch": 7, "rows": 11}}.items():
        again = score_pool(folder / "pool", folder / name, by=by, **options)  # type: ignore[arg-type]
        assert again.column("utility", "unlike").equals(pool.column("utility", "unlike"))
        assert (again.by, again.unlike, again.tally.to_dict()) == (
            pool.by,
            pool.unlike,
            pool.tally.to_dict(),
        )


def test_unknown_kinds_of_texts_are_counted_and_left_out_when_asked(pool: ScoredPool) -> None:
    flagged = pool.column("item", "unlike").filter(pool.column("unlike").to_series()).get_column("item")
    assert "odd" in flagged.to_list()
    assert pool.unlike == len(flagged)
    assert ScoredPool.load(pool.folder).unlike == pool.unlike
    chosen = select_pool(pool, 5, design="top", familiar=True)
    assert chosen.removed["unlike"] == pool.unlike
    assert not set(flagged.to_list()) & set(
        select_pool(pool, 40, design="uniform", familiar=True).selection.items
    )
    assert verify_pool(chosen.selection, pool).ok
    everything = select_pool(pool, "100%", design="uniform").selection.notes
    assert f"{pool.unlike} of the 61 chosen sources are unlike" in " ".join(everything)
    assert not any("chosen sources are unlike" in note for note in chosen.selection.notes)
    plain = score_pool(pool.folder.parent / "pool", pool.folder.parent / "plain")
    with pytest.raises(UsageError, match="Only a model knows"):
        select_pool(plain, 5, design="top", familiar=True)


def test_what_is_hardly_told_is_noted(folder: Path) -> None:
    by = f"distilled:model={folder / 'model.skops'},utility=noise"
    pool = score_pool(folder / "pool", folder / "noisy", by=by)
    assert "noise is predicted poorly" in pool.notes[0]
    assert pool.notes == ScoredPool.load(folder / "noisy").notes
    assert pool.notes[0] in select_pool(pool, 5, design="uniform").selection.notes


@pytest.mark.parametrize(
    ("by", "error", "words"),
    [
        ("distilled", UsageError, "needs the file of a model"),
        ("distilled:model=nowhere.skops", InputError, "no such file"),
        ("distilled:model=model.skops", UsageError, "knows 2 utilities"),
        ("distilled:model=model.skops,utility=hrd", UnknownNameError, "hrd"),
        ("distilled:model=model.skops,digest=0000", DataError, "has the digest"),
        ("distilled:model=model.skops,embedding=x", UsageError, "and nothing else"),
    ],
)
def test_a_wrong_model_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, by: str, error: type[Exception], words: str
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(error, match=words):
        parse_scoring(by)


def test_a_model_of_given_vectors_knows_no_texts(folder: Path) -> None:
    past = made_past()
    vectors = np.random.default_rng(0).normal(size=(len(past), 4))
    with_vectors = past.with_column("vec", [row.tolist() for row in vectors])
    sparingly.distil(with_vectors, "metric_avg:metric=score", features="column:vec").save(
        folder / "vec.skops"
    )
    with pytest.raises(UsageError, match="texts alone have none"):
        parse_scoring(f"distilled:model={folder / 'vec.skops'}")
