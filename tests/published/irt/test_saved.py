from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError, UsageError
from sparingly.published.irt import IrtFit, Priors, fit_irt, load_irt, save_irt
from sparingly.published.irt.model import Method, Response
from sparingly.published.irt.saved import SavedIrt, write_irt
from tests.published.irt.simulated import simulate

ITEMS = ["größe (1)", "b+c", "größe-2", "item 4", "5", "six"]
MODELS = ["zero|shot", "large (beam = 4)", "tiny"]


def fitted(method: Method = "variational", response: Response = "continuous") -> IrtFit:
    scores = simulate(Priors(), 6, 3, 1).scores
    scores[2] = np.nan
    return fit_irt(scores, method=method, response=response)


@pytest.mark.parametrize("method", ["map", "variational"])
@pytest.mark.parametrize("response", ["continuous", "binary"])
@pytest.mark.parametrize("name", ["fit.json", "fit.json.gz"])
def test_a_fit_comes_back_as_it_was(tmp_path: Path, method: Method, response: Response, name: str) -> None:
    fit = fitted(method, response)
    save_irt(tmp_path / name, fit, ITEMS, MODELS)
    back = load_irt(tmp_path / name)
    assert back.items == tuple(ITEMS)
    assert back.models == tuple(MODELS)
    for part in ("response", "method", "noise", "objective", "priors"):
        assert getattr(back.fit, part) == getattr(fit, part), part
    for part in ("estimates", "sds", "centres", "spreads"):
        theirs, ours = getattr(back.fit, part), getattr(fit, part)
        assert (theirs is None) == (ours is None)
        if ours is not None:
            for column, values in vars(ours).items():
                np.testing.assert_array_equal(getattr(theirs, column), values, err_msg=column)


def test_the_file_names_its_format_and_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    save_irt(path, fitted(), ITEMS, MODELS)
    written = json.loads(path.read_text(encoding="utf-8"))
    assert (written["format"], written["version"]) == ("sparingly/irt", 1)
    assert written["estimates"]["difficulty"][2] is None
    path.write_text(json.dumps({**written, "note": "mine"}), encoding="utf-8")
    back = load_irt(path)
    write_irt(path, back)
    assert json.loads(path.read_text(encoding="utf-8"))["note"] == "mine"


def test_ids_and_numbers_must_agree(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="6 items and 3 models, and there are 5 and 3 ids"):
        save_irt(tmp_path / "fit.json", fitted(), ITEMS[:5], MODELS)
    assert not (tmp_path / "fit.json").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "sparingly/selection"}, 'field format: this is a "sparingly/selection" file'),
        ({"version": 2}, "version 2 is newer than the version 1"),
        ({"response": "ternary"}, 'field response: "ternary" is none of continuous, binary'),
        ({"method": None}, "field method: null is none of map, variational"),
        ({"items": ["a", "a", "b", "c", "d", "e"]}, "field items: an id is there twice"),
        ({"models": ["x"]}, ".ability: there are 3 numbers for 1 ids"),
        ({"estimates": None}, "field estimates.discrimination: there are 0 numbers for 6 ids"),
        ({"noise": "loud"}, 'field noise: "loud" is text, not a number'),
        (
            {"priors": {"discrimination": [1.0]}},
            "field priors.discrimination: 2 values are wanted",
        ),
        ({"sds": {"discrimination": [1, 2]}}, "there are 2 numbers for 6 ids"),
    ],
)
def test_a_wrong_file_is_named_in_one_sentence(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "fit.json"
    values = SavedIrt(fitted(), tuple(ITEMS), tuple(MODELS)).to_dict()
    path.write_text(json.dumps({**values, **change}), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_irt(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_file_and_no_json_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        load_irt(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="this is not JSON"):
        load_irt(tmp_path / "bad.json")
