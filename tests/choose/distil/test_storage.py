"""Files: what was saved is what is loaded, and no bad file is loaded or run."""

from __future__ import annotations

import io
import json
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import ExtraMissingError, InputError
from sparingly.choose.distil.model import DistilledModel, check_extra
from tests.choose.distil.made_past import made_past

DATA = made_past()


@pytest.fixture(scope="module")
def model() -> DistilledModel:
    return sparingly.distil(DATA, ["metric_avg", "aspect:overall"], learner="boosting")


@pytest.fixture
def file(model: DistilledModel, tmp_path: Path) -> Path:
    model.save(tmp_path / "model.skops")
    return tmp_path / "model.skops"


def rewritten(file: Path, change: Any) -> Path:
    """Return the archive with its plan changed."""
    held = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(held, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                plan = json.loads(content)
                change(plan)
                content = json.dumps(plan).encode()
            new.writestr(name, content)
    target = file.with_name("changed.skops")
    target.write_bytes(held.getvalue())
    return target


def with_card(file: Path, **values: Any) -> Path:
    def change(plan: dict[str, Any]) -> None:
        card = json.loads(json.loads(plan["content"]["card"]["content"])) | values
        plan["content"]["card"]["content"] = json.dumps(json.dumps(card))

    return rewritten(file, change)


def refused(file: Path) -> str:
    with pytest.raises(InputError) as caught:
        sparingly.load_distilled(file)
    sentence = str(caught.value)
    assert sentence.startswith(str(file))
    assert "\n" not in sentence
    return sentence


def test_what_is_saved_is_loaded(model: DistilledModel, file: Path) -> None:
    again = sparingly.load_distilled(file)
    assert again.card == model.card
    assert again.digest == model.digest
    np.testing.assert_array_equal(again.score(DATA).values, model.score(DATA).values)
    assert again.score(["Ж", "We saw the cat."]).unlike == model.score(["Ж", "We saw the cat."]).unlike


def test_skops_itself_trusts_everything_in_it(file: Path) -> None:
    from skops.io import get_untrusted_types, load

    assert get_untrusted_types(file=file) == []
    assert set(load(file)) == {"card", "arrays"}


def test_a_file_that_changes_is_read_again(model: DistilledModel, file: Path) -> None:
    assert sparingly.load_distilled(file).digest == model.digest
    other = sparingly.distil(DATA, "metric_var:metric=score")
    other.save(file)
    assert sparingly.load_distilled(file).digest == other.digest != model.digest


def test_loading_needs_no_skops_and_saving_names_the_extra(
    model: DistilledModel, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "skops"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert sparingly.load_distilled(file).digest == model.digest
    for call in (check_extra, lambda: model.save(file)):
        with pytest.raises(ExtraMissingError, match=r"sparingly\[distil\]"):
            call()


# --- bad files ------------------------------------------------------------------------------------------


def test_a_truncated_file(file: Path) -> None:
    content = file.read_bytes()
    for share in (0.1, 0.5, 0.99):
        file.write_bytes(content[: int(len(content) * share)])
        assert "Is the file cut off?" in refused(file)


def test_a_damaged_file(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0xFF
    file.write_bytes(bytes(content))
    assert "damaged" in refused(file)


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.mark,)


def test_a_renamed_pickle_is_not_opened(tmp_path: Path) -> None:
    file, mark = tmp_path / "model.skops", tmp_path / "ran"
    file.write_bytes(pickle.dumps(Trap(mark)))
    assert "pickle file" in refused(file)
    assert not mark.exists()


def test_a_pickle_inside_is_not_opened(file: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    trap = io.BytesIO()
    np.save(trap, np.array([Trap(mark)], object), allow_pickle=True)
    held = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(held, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) if name == "schema.json" else trap.getvalue())
    file.write_bytes(held.getvalue())
    assert "no distilled model" in refused(file)
    assert not mark.exists()


@pytest.mark.parametrize("where", ["card", "arrays"])
def test_anything_beyond_texts_and_numbers_is_refused(file: Path, where: str) -> None:
    def change(plan: dict[str, Any]) -> None:
        plan["content"][where] = {"__module__": "os", "__class__": "system", "__loader__": "FunctionNode"}

    assert "the file holds a os.system, which no model has" in refused(rewritten(file, change))


def test_other_skops_files(tmp_path: Path) -> None:
    from sklearn.linear_model import Ridge
    from skops.io import dump

    file = tmp_path / "other.skops"
    dump(Ridge(), file)
    assert "Ridge, which no model has" in refused(file)
    dump({"weights": np.ones(3)}, file)
    assert "this is a skops file, but no distilled model" in refused(file)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    file = tmp_path / "model.skops"
    for content in (b"", b"{}", b"\x00\x01"):
        file.write_bytes(content)
        assert "not a skops file" in refused(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "a")
    assert "no distilled model" in refused(file)
    assert "directory" in refused(tmp_path)
    assert "no such file" in refused(tmp_path / "none.skops")


def test_another_version_is_refused(file: Path) -> None:
    assert "version 2 is newer than the version 1" in refused(with_card(file, version=2))
    assert "not sparingly/distilled" in refused(with_card(file, format="sparingly/irt"))


def test_unknown_keys_are_kept(file: Path, tmp_path: Path) -> None:
    found = sparingly.load_distilled(with_card(file, remark="from the archive"))
    assert found.card.unknown == {"remark": "from the archive"}
    found.save(tmp_path / "again.skops")
    assert sparingly.load_distilled(tmp_path / "again.skops").card == found.card


def test_numbers_that_do_not_fit_the_card(file: Path) -> None:
    def lose(plan: dict[str, Any]) -> None:
        del plan["content"]["arrays"]["content"]["surface"]

    def swap(plan: dict[str, Any]) -> None:
        arrays = plan["content"]["arrays"]["content"]
        arrays["words"] = arrays["rarity"]

    def point(plan: dict[str, Any]) -> None:
        arrays = plan["content"]["arrays"]["content"]
        arrays["trees.0.roots"] = arrays["trees.0.feature"]
        arrays["trees.0.feature"] = arrays["trees.0.left"]

    assert "field surface: the model lacks these numbers" in refused(rewritten(file, lose))
    assert "field words: the numbers are float32 of the shape (65536,)" in refused(rewritten(file, swap))
    assert "points at something that is not there" in refused(rewritten(file, point))
    assert "names no utility" in refused(with_card(file, utilities=[]))
    assert "field seed" in refused(with_card(file, seed="zero"))
