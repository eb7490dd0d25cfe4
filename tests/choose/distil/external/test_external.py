"""Models of others: asked as their packages want it, and what to install is said where they are not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.choose.distil import external_models
from sparingly.data.evalset import EvalSet
from tests.choose.distil.external.fake_packages import NAMES, Counting, Prediction, fake_package

TEXTS = ["four", "a longer text", "four", None, "  ", "in between"]
OUTPUTS = np.array([["x", "xyz"], ["xx", None], ["x", "xyz"], ["x", "x"], ["x", "x"], [None, None]], object)
ITEMS = list("abcdef")
DATA = EvalSet.from_arrays(ITEMS, ["one", "two"], sources=TEXTS, outputs=OUTPUTS)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found = {name: fake_package(name) for name in NAMES}
    for name, package in found.items():
        monkeypatch.setitem(sys.modules, name, package)
    return found


def values(text: str, data: EvalSet = DATA) -> list[float]:
    method: Any = sparingly.parse_method(text)
    found: list[float] = method.resolve(data).values(data).tolist()
    return found


def test_precomet_asks_each_text_once(packages: dict[str, Any]) -> None:
    nan = float("nan")
    np.testing.assert_array_equal(values("precomet:target=cons"), [4, 13, 4, nan, nan, 10])
    [(checkpoint, samples, gpus, bar)] = packages["precomet"].asked
    assert checkpoint == str(Path("hub/zouharvi/PreCOMET-cons/checkpoints/model.ckpt"))
    assert samples == [{"src": "a longer text"}, {"src": "four"}, {"src": "in between"}]
    assert (gpus, bar) == (0, False)


@pytest.mark.parametrize(
    ("target", "factor"),
    [
        ("avg", -1),
        ("var", -1),
        ("diversity", -1),
        ("disc", -1),
        ("diff", 1),
        ("cons", 1),
        ("diffdisc_direct", 1),
    ],
)
def test_every_published_model_is_turned_as_its_authors_use_it(
    packages: dict[str, Any], target: str, factor: int
) -> None:
    assert values(f"precomet:target={target}")[0] == 4 * factor
    assert packages["precomet"].asked[0][0].endswith(str(Path(f"PreCOMET-{target}/checkpoints/model.ckpt")))


@pytest.mark.usefixtures("packages")
def test_the_end_that_is_preferred_can_be_said() -> None:
    assert values("precomet:target=avg,prefer=high")[0] == 4
    assert values("precomet:target=cons,prefer=low")[0] == -4


def test_diffdisc_is_a_product_of_two_models(packages: dict[str, Any]) -> None:
    assert values("precomet:target=diffdisc")[:2] == [16, 169]
    assert len(packages["precomet"].asked) == 2


def test_sentinel_prefers_what_is_expected_to_be_poor(packages: dict[str, Any]) -> None:
    assert values("sentinel_src")[:2] == [-4, -13]
    assert values("sentinel_src:scores=da")[:2] == [-4, -13]
    asked = [one[0] for one in packages["sentinel_metric"].asked]
    assert [str(Path(one).parts[2]) for one in asked] == ["sentinel-src-mqm", "sentinel-src-da"]


def test_expected_errors_are_averaged_over_outputs(packages: dict[str, Any]) -> None:
    nan = float("nan")
    np.testing.assert_array_equal(values("comet_instant_confidence"), [2, 2, 2, nan, nan, nan])
    assert values("comet_instant_confidence:direction=low")[0] == -2
    samples = packages["comet_early_exit"].asked[0][1]
    assert {"src": "four", "mt": "xyz"} in samples
    assert len(samples) == 3


@pytest.mark.usefixtures("packages")
def test_they_choose_as_any_other_utility() -> None:
    chosen = sparingly.select(DATA, "precomet:target=cons", 2)
    assert list(chosen.items) == ["b", "f"]
    assert sparingly.verify(chosen, DATA).problems == ()


def test_a_folder_or_a_checkpoint_is_taken(packages: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (folder / "checkpoints").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"has no checkpoints/model\.ckpt"):
        values(f"precomet:model={folder}")
    file = folder / "checkpoints" / "model.ckpt"
    file.write_bytes(b"")
    for given in (folder, file):
        assert values(f"precomet:model={given}")[0] == -4
    assert {one[0] for one in packages["precomet"].asked} == {str(file)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("precomet", r"needs the package precomet \(written for precomet 2\.2\.4\).*zouharvi/PreCOMET"),
        ("sentinel_src", r"needs the package sentinel_metric.*SapienzaNLP/guardians-mt-eval"),
        ("comet_instant_confidence", r"needs the package comet_early_exit.*subdirectory=comet_early_exit"),
    ],
)
def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch, text: str, words: str) -> None:
    for name in NAMES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=words):
        values(text)


def test_another_missing_package_is_not_mistaken(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ModuleNotFoundError("No module named 'entmax'", name="entmax")

    monkeypatch.setattr(external_models, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="entmax"):
        values("precomet")


@pytest.mark.usefixtures("packages")
def test_weights_that_are_not_there() -> None:
    with pytest.raises(UsageError, match=r"weights owner/missing.*not supported by COMET.*precomet:model="):
        values("precomet:model=owner/missing")


def test_numbers_that_do_not_fit(packages: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def by_layer(self: Counting, samples: list[dict[str, str]], **how: Any) -> Prediction:
        return Prediction(scores=[[1.0, 2.0] for _ in samples])

    monkeypatch.setattr(Counting, "predict", by_layer)
    with pytest.raises(DataError, match=r"of the shape \(3, 2\) for 3 samples"):
        values("precomet")


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("text", ["precomet", "sentinel_src", "comet_instant_confidence"])
def test_sources_are_needed(text: str) -> None:
    bare = EvalSet.from_arrays(ITEMS, ["one", "two"], outputs=OUTPUTS)
    with pytest.raises(MissingDataError, match="sources"):
        values(text, bare)
