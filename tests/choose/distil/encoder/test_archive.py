"""Files of encoders: what was saved is what is loaded, and nothing in a file or folder is ever run."""

from __future__ import annotations

import io
import json
import pickle
import shlex
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, InputError, UsageError
from sparingly.choose.distil.encoder.network import Network, base_digest, build_transformer, load_base
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.pool.scorers import parse_distilled
from sparingly.cli.app import run
from sparingly.data.evalset import EvalSet
from tests.choose.distil.encoder.made_base import quick, save_base
from tests.choose.distil.made_past import made_past

pytestmark = [pytest.mark.transformer, pytest.mark.filterwarnings("default")]
NEW = made_past(500, 30, models=("Delta", "Beta"))


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.mark,)


def rewritten(file: Path, *, packed: bool = False, **changes: bytes | None) -> Path:
    """Return the archive with some members changed or left out."""
    target = file.with_name("changed.encoder")
    compression = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w", compression) as new:
        for name in old.namelist():
            content = changes.get(name.replace(".", "_"), old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target


def with_json(file: Path, member: str, **values: Any) -> Path:
    with zipfile.ZipFile(file) as archive:
        held = json.loads(archive.read(f"{member}.json"))
    changed: dict[str, Any] = {f"{member}_json": json.dumps(held | values).encode()}
    return rewritten(file, **changed)


def refused(file: Path) -> str:
    with pytest.raises(InputError) as caught:
        sparingly.load_distilled(file)
    sentence = str(caught.value)
    assert sentence.startswith(str(file))
    assert "\n" not in sentence
    return sentence


# --- there and back -----------------------------------------------------------------------------------


def test_what_is_saved_is_loaded(model: DistilledModel, file: Path) -> None:
    again = sparingly.load_distilled(file)
    assert again.card == model.card
    assert again.digest == model.digest
    np.testing.assert_array_equal(again.score(NEW).values, model.score(NEW).values)
    assert again.score(["Ж"]).unlike == model.score(["Ж"]).unlike
    again.save(file.with_name("again"))
    assert file.with_name("again").read_bytes() == file.read_bytes()


def test_it_is_an_archive_of_safetensors_and_json(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == [
            "card.json",
            "config.json",
            "network.json",
            "tokenizer.json",
            "weights.safetensors",
        ]
        assert json.loads(archive.read("card.json"))["format"] == "sparingly/distilled"


def test_the_utility_takes_it(file: Path, model: DistilledModel) -> None:
    bare = EvalSet.from_arrays(list(NEW.items), [], sources=NEW.sources)
    chosen = sparingly.select(bare, f"distilled:model={file},utility=hard", 8)
    assert set(chosen.items) == set(NEW.items[np.argsort(-model.predict(NEW, "hard"))[:8]])
    found = sparingly.verify(chosen, NEW)
    assert found.problems == ()
    assert any("judged now: Beta;" in note for note in found.notes)


def test_a_pool_is_scored_by_it_however_it_is_cut(file: Path, model: DistilledModel) -> None:
    scorer = parse_distilled(f'distilled:model="{file}",utility=hard')
    texts = [*NEW.sources.tolist(), "Съешь ещё этих булок."]  # type: ignore[union-attr]
    parts = [scorer.with_flags(texts[start : start + 7]) for start in range(0, len(texts), 7)]
    np.testing.assert_array_equal(np.concatenate([told for told, _ in parts]), model.predict(texts, "hard"))
    assert np.concatenate([unlike for _, unlike in parts])[-1]


def test_the_command_line_trains_shows_and_applies(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sparingly.save(made_past(items=40), "past.jsonl")
    sparingly.save(NEW, "new.jsonl")
    train = (
        f"distil train past.jsonl -u hard=metric_avg --learner encoder --base '{base}' --epochs 1 --folds 2"
    )
    for line in (
        f"{train} --learning-rate 0.001 --batch 16 --measured 1 --checkpoints kept -o model.encoder",
        "distil info model.encoder",
        "distil apply model.encoder new.jsonl -o scored.jsonl",
    ):
        assert run(shlex.split(line)) == EXIT_DONE
    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"encoder on {base}, learned from 40 sources" in shown.out
    assert "30 of 30 sources scored" in shown.out
    assert "hard_src" in sparingly.load("scored.jsonl").columns
    assert (tmp_path / "kept" / "whole.safetensors").exists()


@pytest.mark.parametrize("kind", ["distilbert", "t5", "xlm-roberta"])
def test_transformers_of_other_kinds(kind: str, tmp_path: Path) -> None:
    import torch

    base = load_base(str(save_base(tmp_path / kind, kind)), 512)
    network = Network(base.transformer, (8,), 2, 0.0)
    again = Network(build_transformer(json.loads(json.dumps(base.config))), (8,), 2, 0.0)
    again.set_weights(network.weights())
    assert base_digest(base) == base_digest(base._replace(transformer=again.transformer))
    [batch] = base.tokens.batches(base.tokens.ids(["We saw the cat.", ""]), 4, fixed=True)
    for one in (network, again):
        one.train(False)
    with torch.inference_mode():
        assert torch.equal(network(batch), again(batch))
        assert network(batch).shape == (4, 2)
    rates = network.rates(1.0, 0.5)
    assert len(set(rates.values())) == 3


# --- bad files ----------------------------------------------------------------------------------------


def test_pickles_are_not_opened(file: Path, tmp_path: Path) -> None:
    import torch

    mark, held = tmp_path / "ran", io.BytesIO()
    torch.save({"weights": Trap(mark)}, held)
    for trap in (pickle.dumps(Trap(mark)), held.getvalue()):
        assert "no safetensors" in refused(rewritten(file, weights_safetensors=trap))
    assert not mark.exists()


def test_code_beside_the_weights_is_not_run(file: Path, tmp_path: Path, model: Any) -> None:
    mark = tmp_path / "ran"
    (tmp_path / "trap.py").write_text(f"open({str(mark)!r}, 'w')\n", encoding="utf-8")
    there = {"auto_map": {"AutoModel": "trap.Trap", "AutoConfig": "trap.Trap"}, "attn_implementation": "a/b"}
    again = sparingly.load_distilled(with_json(file, "config", **there))
    np.testing.assert_array_equal(again.score(NEW).values, model.score(NEW).values)
    assert "no model of the type" in refused(with_json(file, "config", model_type="trap", **there))
    assert not mark.exists()


def test_files_that_are_cut_off_or_packed(file: Path) -> None:
    content = file.read_bytes()
    cut = file.with_name("cut.encoder")
    cut.write_bytes(content[: len(content) // 2])
    assert "not a skops file" in refused(cut)
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 0xFF
    cut.write_bytes(bytes(flipped))
    assert "damaged" in refused(cut)
    assert "packed" in refused(rewritten(file, packed=True))


def test_what_does_not_fit_is_refused(file: Path) -> None:
    assert "not an encoder's file" in refused(rewritten(file, tokenizer_json=None))
    assert "field tokenizer" in refused(rewritten(file, tokenizer_json=b"{}"))
    assert "field config: this is not JSON" in refused(rewritten(file, config_json=b"{"))
    # More memory than any machine has, found out by shapes alone.
    assert "the weights are" in refused(with_json(file, "config", vocab_size=1 << 40))
    assert "the model lacks these weights" in refused(with_json(file, "config", num_hidden_layers=3))
    assert "the weights are" in refused(with_json(file, "network", hidden=[32, 17]))
    assert "a size is too small" in refused(with_json(file, "network", longest=0))
    assert "names no utility" in refused(with_json(file, "card", utilities=[]))
    assert "version 2 is newer" in refused(with_json(file, "card", version=2))


def test_numbers_that_are_not_finite_are_refused(file: Path) -> None:
    import torch
    from safetensors.torch import load, save

    with zipfile.ZipFile(file) as archive:
        held = load(archive.read("weights.safetensors"))
    broken = {**held, "spread": torch.zeros(2, dtype=torch.float64)}
    assert "not above 0" in refused(rewritten(file, weights_safetensors=save(broken)))
    broken = {**held, "head.0.bias": torch.full_like(held["head.0.bias"], torch.nan)}
    assert "field head.0.bias: a number is not finite" in refused(
        rewritten(file, weights_safetensors=save(broken))
    )


# --- bad folders --------------------------------------------------------------------------------------


def start_from(base: Path | str) -> Any:
    return sparingly.distil(made_past(items=40), "metric_avg", learner="encoder", encoder=quick(Path(base)))


def test_folders_without_a_transformer(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no transformer.*model\.safetensors"):
        start_from(tmp_path)


def test_pickled_weights_in_a_folder_are_not_opened(tmp_path: Path) -> None:
    folder, mark = save_base(tmp_path / "base"), tmp_path / "ran"
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(UsageError, match="holds no transformer"):
        start_from(folder)
    assert not mark.exists()


def test_code_in_a_folder_is_not_run(tmp_path: Path) -> None:
    folder, mark = save_base(tmp_path / "base"), tmp_path / "ran"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "trap", "auto_map": {"AutoModel": "trap.Trap", "AutoConfig": "trap.Trap"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "trap.py").write_text(f"open({str(mark)!r}, 'w')\n", encoding="utf-8")
    with pytest.raises(UsageError, match="holds no transformer"):
        start_from(folder)
    assert not mark.exists()


def test_a_name_that_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match='"nobody/nothing" cannot be loaded: it is not a folder'):
        start_from("nobody/nothing")
