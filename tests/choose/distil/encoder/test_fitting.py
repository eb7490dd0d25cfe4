"""Training a real, small transformer: it learns, stops, goes on after a kill, and repeats itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.choose.distil.encoder import training
from sparingly.choose.distil.model import DistilledModel
from sparingly.data.evalset import EvalSet
from tests.choose.distil.encoder.made_base import quick, save_base
from tests.choose.distil.made_past import made_past

pytestmark = [pytest.mark.transformer, pytest.mark.filterwarnings("default")]
ROOT = Path(__file__).resolve().parents[4]
SMALL = made_past(items=50)


def learned(data: EvalSet, training: Any, utilities: Any = "metric_avg", **how: Any) -> Any:
    return sparingly.distil(data, utilities, learner="encoder", encoder=training, folds=2, **how)


# --- what is learned ----------------------------------------------------------------------------------


def test_it_learns_what_a_constant_cannot(model: DistilledModel) -> None:
    for one in model.card.utilities:
        assert one.hold_out.spearman > 0.5
        assert one.hold_out.pearson > 0.5
    new = made_past(900, 60)
    truth = -new.metrics["score"].mean(axis=1)
    for name in ("hard", "aspect:overall"):
        assert np.corrcoef(model.predict(new, name), truth)[0, 1] > 0.5


def test_the_card_says_how(model: DistilledModel, base: Path) -> None:
    card = model.card
    assert (card.learner, card.features, card.held_out_by) == ("encoder", str(base), "items")
    assert card.models == ("Alpha-7B", "Beta")
    assert card.languages == ("en",)
    assert card.embedding_digest
    assert card.encoder is not None
    assert card.encoder["hidden"] == [32, 16]
    losses = card.encoder["losses"]
    assert losses[card.encoder["best_epoch"] - 1] == min(losses) < 0.5
    # The transformer has 64 places, and one is spare.
    assert card.encoder["tokens"] == 63
    assert "|encoder:epochs=10,batch=16,step=16,rate=0.002,layer_decay=0.95," in card.signature


def test_texts_unlike_the_training_texts_are_flagged(model: DistilledModel) -> None:
    like = made_past(items=1).sources[0]  # type: ignore[index]
    found = model.score(["Съешь ещё этих мягких французских булок, да выпей чаю.", like, None])
    assert found.unlike == [("unseen letters", "script"), (), ()]
    assert np.isnan(found.values).any(axis=1).tolist() == [False, False, True]


def test_a_text_has_one_number_whatever_stands_beside_it(model: DistilledModel) -> None:
    texts = [*made_past(300, 20).sources.tolist(), "the", "the " * 40]  # type: ignore[union-attr]
    together = model.score(texts).values
    alone = np.concatenate([model.score([text]).values for text in texts])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(model.score(texts[::-1]).values, together[::-1])


def test_unknown_targets_are_left_out(base: Path) -> None:
    scores = SMALL.metrics["score"].copy()
    scores[:20] = np.nan
    found = learned(SMALL.with_metric("half", scores), quick(base, epochs=1), ["metric:half", "metric:score"])
    assert [one.texts for one in found.card.utilities] == [30, 50]
    assert np.isfinite(found.score(SMALL).values).all()


def test_an_encoder_takes_no_vectors(model: DistilledModel) -> None:
    with pytest.raises(UsageError, match="learned from texts: leave out the embedding"):
        model.predict(SMALL, "hard", "column:vector")


# --- the training itself ------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_model(base: Path) -> None:
    first = learned(SMALL, quick(base, epochs=2))
    turned = learned(made_past(items=50, reverse=True), quick(base, epochs=2))
    assert first.digest == turned.digest
    other = learned(SMALL, quick(base, epochs=2), seed=1)
    assert not np.array_equal(other.predict(SMALL), first.predict(SMALL))


def test_a_batch_read_in_steps_moves_the_weights_as_one_read_at_once(tmp_path: Path) -> None:
    base = save_base(tmp_path / "calm", dropout=0.0)
    told = [learned(SMALL, quick(base, epochs=1, dropout=0.0, step=step)).predict(SMALL) for step in (3, 16)]
    np.testing.assert_allclose(told[0], told[1], atol=1e-4)


def test_it_stops_when_nothing_is_gained(base: Path) -> None:
    noise = SMALL.with_metric("noise", np.random.default_rng(1).normal(size=(50, 2)))
    found = learned(noise, quick(base, epochs=30, patience=1), "metric:noise").card.encoder
    assert len(found["losses"]) == found["best_epoch"] + 1 < 30
    assert found["losses"][-1] >= found["losses"][-2]


def test_rates_fall_from_layer_to_layer(model: DistilledModel) -> None:
    network: Any = model.fit.network  # type: ignore[union-attr]
    rates = network.rates(1.0, 0.5)
    assert rates["head.0.weight"] == 1.0
    assert rates["encoder.encoder.layer.1.output.dense.weight"] == 1.0
    assert rates["encoder.encoder.layer.0.output.dense.weight"] == 0.5
    assert rates["encoder.embeddings.word_embeddings.weight"] == 0.25


def test_half_precision_is_for_graphics_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    assert training.half_precision("cpu", "auto") is None
    assert training.half_precision("cuda", "full") is None
    for has_it, kind in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has_it=has_it, **how: has_it)
        assert training.half_precision("cuda", "auto") is kind


def test_torch_is_left_as_it_was(base: Path) -> None:
    import torch

    before = torch.random.get_rng_state()
    learned(SMALL, quick(base, epochs=1))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()


# --- checkpoints --------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
import sparingly
from sparingly.choose.distil.encoder.training import Checkpoint
from tests.choose.distil.encoder.made_base import quick
from tests.choose.distil.made_past import made_past

write, written = Checkpoint.write, []

def and_die(self, progress, numbers):
    write(self, progress, numbers)
    written.append(progress)
    if len(written) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.write = and_die
training = quick(Path(sys.argv[1]), epochs=3, every=2, checkpoints=sys.argv[2])
sparingly.distil(made_past(items=50), "metric_avg", learner="encoder", encoder=training, folds=2)
"""


def test_a_training_that_was_killed_goes_on(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = learned(SMALL, quick(base, epochs=3))
    # The training without the held-out part ends with the sixth checkpoint. The ninth is that of the whole
    # set in the middle of its second epoch, with 2 of 3 updates done.
    command = [sys.executable, "-c", KILLED, str(base), str(tmp_path), "9"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    died = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert died.returncode == -9, died.stderr.decode()
    assert {path.name for path in tmp_path.iterdir()} == {"without-0.safetensors", "whole.safetensors"}
    counted: list[int] = []
    update = training.Trainer._update

    def and_count(self: training.Trainer, rows: Any) -> None:
        counted.append(len(rows))
        update(self, rows)

    monkeypatch.setattr(training.Trainer, "_update", and_count)
    settings = quick(base, epochs=3, every=2, checkpoints=tmp_path)
    resumed = learned(SMALL, settings)
    assert len(counted) == 1 + 3
    assert resumed.digest == whole.digest
    # What is done is not done again.
    counted.clear()
    assert learned(SMALL, settings).digest == whole.digest
    assert counted == []


def test_checkpoints_of_other_trainings_are_refused(base: Path, tmp_path: Path) -> None:
    learned(SMALL, quick(base, epochs=1, checkpoints=tmp_path))
    with pytest.raises(UsageError, match="is the checkpoint of another training"):
        learned(SMALL, quick(base, epochs=2, checkpoints=tmp_path))
    (tmp_path / "without-0.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a checkpoint, or a damaged one"):
        learned(SMALL, quick(base, epochs=1, checkpoints=tmp_path))
