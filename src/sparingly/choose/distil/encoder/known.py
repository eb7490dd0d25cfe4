"""What an encoder has learned: it tells utilities from texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.choose.distil.encoder.network import Network
from sparingly.choose.distil.encoder.packages import package
from sparingly.choose.distil.encoder.tokens import Tokens
from sparingly.choose.distil.encoder.training import EncoderTraining
from sparingly.choose.distil.spans import Spans

_ROWS = {"cpu": 16, "cuda": 128}


@dataclass(frozen=True, eq=False)
class EncoderFit:
    """A learner that has learned: the network, and the scale of every utility.

    Attributes:
        network: The transformer and the network on top.
        config: The form of the transformer.
        tokens: Its tokenizer.
        hidden: The hidden layers on top.
        centre: The mean of every utility.
        spread: Its standard deviation.
        started_from: What tells the transformer that it started from, from any other.
        losses: The squared error on the texts set aside, after every epoch, in units of that deviation.
    """

    network: Network
    config: dict[str, Any]
    tokens: Tokens
    hidden: tuple[int, ...]
    centre: Floats
    spread: Floats
    started_from: str
    losses: tuple[float, ...]

    @property
    def dimensions(self) -> int | None:
        """An encoder reads texts, and takes no vectors."""
        return None

    def predict(self, texts: Sequence[str], vectors: Floats | None = None) -> Floats:
        """Return texts × utilities, in single precision; the same whatever other texts are asked about."""
        torch = package("torch")
        told = np.empty((len(texts), len(self.centre)))
        self.network.train(False)
        rows = _ROWS[self.network.device]
        with torch.inference_mode():
            for batch in self.tokens.batches(self.tokens.ids(texts), rows, fixed=True):
                told[batch.places] = self.network(batch)[: len(batch.places)].cpu().numpy()
        return told * self.spread + self.centre

    def predict_block(self, spans: Spans, vectors: Floats | None = None) -> Floats:
        """Return texts × utilities for a block."""
        return self.predict(spans.texts)

    def training_card(self, training: EncoderTraining) -> dict[str, Any]:
        """Return for the card how the training was set, and how it went."""
        settings = training.settings()
        del settings["base"]
        went = {"tokens": self.tokens.longest, "losses": list(self.losses)}
        return {**settings, **went, "best_epoch": 1 + int(np.argmin(self.losses))}

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return all numbers by name."""
        weights = {name: held.detach().cpu().numpy() for name, held in self.network.weights().items()}
        return {**weights, "centre": self.centre, "spread": self.spread}

    def forms(self) -> dict[str, str]:
        """Return what is no number, as JSON by name: the form of the network and the tokenizer."""
        network = {"hidden": list(self.hidden), "pad": self.tokens.pad, "longest": self.tokens.longest}
        went = {"losses": list(self.losses), "started_from": self.started_from}
        return {
            "config": dumps(self.config, sort_keys=True),
            "network": dumps({**network, **went}, sort_keys=True),
            "tokenizer": self.tokens.json,
        }
