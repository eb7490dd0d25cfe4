"""How an encoder is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from sparingly.base.errors import UsageError

Precision = Literal["auto", "full"]
_NOT_IN_SIGNATURE = ("checkpoints", "every", "measured")


@dataclass(frozen=True)
class EncoderTraining:
    """How an encoder is trained: by default as in Zouhar et al. 2025, appendix C.

    A transformer, the mean over its tokens, and a network of hidden layers (2048, 1024) with an output for
    every utility; Adam on the squared error with rate 1.5e-5, batches of 128, 5 epochs. The paper names
    a weight decay of 0.95, which would shrink every weight to nothing: here 0.95 is the factor of the rate
    from layer to layer, as in the program that the paper builds on, and ``weight_decay`` is separate.
    """

    base: str  # a name on the hub, or a folder; weights must be safetensors
    epochs: int = 5  # at most
    batch: int = 128  # texts of an update
    step: int = 16  # texts in memory at a time
    rate: float = 1.5e-5  # of the network on top and of the transformer's last layer
    layer_decay: float = 0.95  # by how much the rate falls from one layer to the one below it
    weight_decay: float = 0.0  # AdamW
    hidden: tuple[int, ...] = (2048, 1024)  # layers of the network on top
    dropout: float = 0.1  # share of numbers that the network on top drops while it is trained
    longest: int = 512  # tokens of a text; what is beyond is cut off
    stop_share: float = 0.1  # share of texts that is set aside to see when to stop
    patience: int = 2  # epochs without a gain on these texts after which the training stops
    precision: Precision = "auto"  # half precision on a GPU
    checkpoints: str | Path | None = None  # a folder; a training that was cut off goes on from there
    every: int = 200  # updates after which a checkpoint is written, beside one after every epoch
    measured: int | None = None  # held-out parts to predict, each by a training of its own; None for all

    def __post_init__(self) -> None:
        if not self.base:
            raise UsageError("An encoder starts from a transformer: name it, or its folder, with base.")
        if self.precision not in ("auto", "full"):
            raise UsageError(f'The precision is auto or full, not "{self.precision}".')
        lowest = dict.fromkeys(("epochs", "batch", "step", "patience", "every"), 1) | {"longest": 8}
        if self.measured is not None:
            lowest["measured"] = 1
        for name, minimum in lowest.items():
            if getattr(self, name) < minimum:
                raise UsageError(f"{name} is at least {minimum}, not {getattr(self, name)}.")
        if any(size < 1 for size in self.hidden):
            raise UsageError(f"A hidden layer has at least 1 unit, not {min(self.hidden)}.")
        for name, high in (("rate", 1.0), ("layer_decay", 1.0), ("stop_share", 0.5)):
            if not 0.0 < getattr(self, name) <= high:
                raise UsageError(f"{name} is above 0 and at most {high:g}, not {getattr(self, name)}.")
        for name in ("dropout", "weight_decay"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise UsageError(f"{name} is at least 0 and below 1, not {getattr(self, name)}.")

    def settings(self) -> dict[str, Any]:
        """Return the settings that the result depends on, as plain values."""
        values = {name: value for name, value in asdict(self).items() if name not in _NOT_IN_SIGNATURE}
        return {**values, "hidden": list(self.hidden)}

    @property
    def text(self) -> str:
        """The settings in one line, for signatures."""
        values = self.settings()
        del values["base"]
        order = [part.name for part in fields(self) if part.name in values]
        values["hidden"] = "+".join(map(str, self.hidden))
        return ",".join(f"{name}={values[name]}" for name in order)
