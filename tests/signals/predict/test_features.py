from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict import features as module
from sparingly.signals.predict.features import Features, prepare_features
from tests.signals.predict.simulated import scored

ALL = Features(embedding="tfidf", dimensions=3, models=True, squares=2, slopes=True)
OWN = ("COMET", "chrF", "noise", "source_length", "log source_length", "output_length", "log output_length")


def test_names_and_numbers_agree() -> None:
    data, _ = scored()
    table = prepare_features(data, ALL)
    found = table.at(np.arange(len(data)))
    assert found.shape == (*data.shape, len(table.names))
    assert table.scales.shape == (len(table.names),)
    assert len(set(table.names)) == len(table.names)
    by_name = dict(zip(table.names, np.moveaxis(found, 2, 0), strict=True))
    comet = data.metrics["COMET"]
    assert by_name["COMET"] == pytest.approx((comet - comet.mean()) / comet.std())
    assert by_name["mean COMET"] == pytest.approx(
        np.repeat(by_name["COMET"].mean(axis=1)[:, None], 3, axis=1)
    )
    assert (by_name["model m1"] == np.array([0.0, 1.0, 0.0])).all()
    assert not by_name["slope m1"][:, [0, 2]].any()
    assert by_name["slope m0"][:, 0] ** 2 == pytest.approx(
        by_name["component 1 x 1"][:, 0] * _spread(table) + _mean(table)
    )


def _spread(table: module.FeatureTable) -> float:
    assert table.components is not None
    return float(table.components.spreads[0])


def _mean(table: module.FeatureTable) -> float:
    assert table.components is not None
    return float(table.components.means[0])


def test_source_length_has_no_item_mean_beside_it() -> None:
    data, _ = scored()
    names = prepare_features(data, Features()).names
    assert names[: len(OWN)] == OWN
    means = tuple(f"mean {name}" for name in OWN if "source" not in name)
    assert names[len(OWN) :] == means


def test_what_is_not_wanted_is_not_there() -> None:
    data, _ = scored()
    wanted = Features(metrics=("chrF",), item_means=False, lengths=False)
    assert prepare_features(data, wanted).names == ("chrF",)


def test_repeated_metrics_are_left_out() -> None:
    data, _ = scored()
    comet = data.metrics["COMET"]
    data = data.with_metric("again", 3.0 * comet + 1.0).with_metric("worse", -comet)
    names = prepare_features(data, Features(lengths=False)).names
    assert names == ("COMET", "chrF", "noise", "mean COMET", "mean chrF", "mean noise")


def test_one_model_has_no_item_means() -> None:
    data, _ = scored(models=1)
    assert not [name for name in prepare_features(data, Features()).names if name.startswith("mean")]


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = scored()
    whole = prepare_features(data, ALL)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 100)
    pieces = module._build_table(data, ALL)
    blocks = list(pieces.blocks())
    assert len(blocks) > 3
    assert np.concatenate(blocks).tolist() == list(range(len(data)))
    found = np.concatenate([pieces.at(rows) for rows in blocks])
    # The sign of a component is a matter of rounding.
    assert np.abs(found) == pytest.approx(np.abs(whole.at(np.arange(len(data)))), abs=1e-8)


def test_kept_while_the_set_is_in_use() -> None:
    data, _ = scored()
    assert prepare_features(data, Features()) is prepare_features(data, Features())
    assert prepare_features(data, Features()) is not prepare_features(data, Features(squares=1))
    view = data.at(np.arange(10))
    assert prepare_features(view, Features()).items == 10


def test_a_square_weighs_as_much_however_many_metrics_there_are() -> None:
    data, _ = scored()
    table = prepare_features(data, Features(squares=2, slopes=True))
    scales = dict(zip(table.names, table.scales.tolist(), strict=True))
    assert (scales["COMET"], scales["mean COMET"]) == (1.0, 0.5)
    assert scales["component 1 x 2"] == pytest.approx(0.3 * np.sqrt(len(OWN) / 3))
    assert scales["slope m0"] == pytest.approx(0.2 * np.sqrt(len(OWN)))


@pytest.mark.parametrize("wrong", [{"dimensions": 0}, {"squares": -1}])
def test_wrong_numbers(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=r"at least 1|zero or more"):
        Features(**wrong)  # type: ignore[arg-type]


def test_order_of_the_file_does_not_matter() -> None:
    data, _ = scored()
    shuffled = np.random.default_rng(0).permutation(len(data))
    again = EvalSet.from_arrays(
        [data.items[place] for place in shuffled],
        data.models,
        metrics={name: data.metrics[name][shuffled] for name in ("noise", "chrF", "COMET")},
    )
    first = prepare_features(data, Features(lengths=False))
    second = prepare_features(again, Features(lengths=False))
    assert first.names == second.names
    assert (first.at(np.arange(40)) == second.at(np.arange(40))).all()
