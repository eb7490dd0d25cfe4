"""A transformer, the mean over its tokens, and a network with an output for every utility."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import Any

from sparingly.base.errors import InputError
from sparingly.choose.distil.encoder.packages import package
from sparingly.choose.distil.encoder.tokens import Batch

_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.")
_ENCODER, _HEAD = "encoder.", "head."


class Network:
    """û(x) = h(mean of t(x)), with t a transformer's last layer and h a network with tanh in between."""

    def __init__(self, transformer: Any, hidden: Sequence[int], utilities: int, dropout: float) -> None:
        nn = package("torch").nn
        sizes = [_width(transformer.config), *hidden]
        layers = [
            part
            for low, high in pairwise(sizes)
            for part in (nn.Linear(low, high), nn.Tanh(), nn.Dropout(dropout))
        ]
        self.transformer = transformer
        self.head = nn.Sequential(*layers, nn.Linear(sizes[-1], utilities))
        self.device = "cpu"

    def to(self, device: str) -> None:
        """Move the network to a device."""
        self.transformer.to(device)
        self.head.to(device)
        self.device = device

    def train(self, on: bool) -> None:
        """Turn dropout on or off."""
        self.transformer.train(on)
        self.head.train(on)

    def __call__(self, batch: Batch) -> Any:
        """Return rows × utilities."""
        torch = package("torch")
        tokens = torch.from_numpy(batch.tokens).to(self.device)
        mask = torch.from_numpy(batch.mask).to(self.device)
        states = self.transformer(input_ids=tokens, attention_mask=mask).last_hidden_state.float()
        shown = mask.unsqueeze(-1).float()
        return self.head((states * shown).sum(dim=1) / shown.sum(dim=1)).float()

    def weights(self) -> dict[str, Any]:
        """Return all weights by name."""
        return {
            **{f"{_ENCODER}{name}": held for name, held in self.transformer.state_dict().items()},
            **{f"{_HEAD}{name}": held for name, held in self.head.state_dict().items()},
        }

    def check_weights(self, weights: Mapping[str, Any]) -> None:
        """Refuse weights whose names, shapes or kinds are not those of the network."""
        own = self.weights()
        for name in sorted(set(own) ^ set(weights)):
            raise InputError("the model lacks these weights, or has them without a use", field=name)
        for name, held in own.items():
            given = weights[name]
            if given.shape != held.shape or given.dtype != held.dtype:
                raise InputError(
                    f"the weights are {given.dtype} of the shape {tuple(given.shape)}", field=name
                )

    def set_weights(self, weights: Mapping[str, Any]) -> None:
        """Take weights by name."""
        self.check_weights(weights)
        for module, start in ((self.transformer, _ENCODER), (self.head, _HEAD)):
            part = {
                name.removeprefix(start): held for name, held in weights.items() if name.startswith(start)
            }
            module.load_state_dict(part)

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Yield what is trained, by name."""
        for name, parameter in self.transformer.named_parameters():
            yield f"{_ENCODER}{name}", parameter
        for name, parameter in self.head.named_parameters():
            yield f"{_HEAD}{name}", parameter

    def rates(self, rate: float, decay: float) -> dict[str, float]:
        """Return the learning rate of every weight: lower from layer to layer, lowest for the embeddings."""
        names = [name for name, _ in self.named_parameters()]
        layers = {name: int(found[1]) for name in names if (found := _LAYER.search(name))}
        top = max(layers.values(), default=-1)
        last = {name for name in names if name.startswith(_HEAD) or ".pooler." in name}
        return {name: rate * decay ** (0 if name in last else top - layers.get(name, -1)) for name in names}


def _width(config: Any) -> int:
    for name in ("hidden_size", "d_model", "dim", "n_embd"):
        found = getattr(config, name, None)
        if isinstance(found, int):
            return found
    raise InputError("the transformer does not say how wide it is", field="config.hidden_size")


def best_device() -> str:
    """Return where to compute: on a GPU if there is one."""
    return "cuda" if package("torch").cuda.is_available() else "cpu"


def own_draws(torch: Any) -> AbstractContextManager[None]:
    """Let torch draw, and leave the state of its draws as it was."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    forked: AbstractContextManager[None] = torch.random.fork_rng(devices=devices)
    return forked


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Let torch draw from a seed and add up in a fixed order, and leave its own state as it was."""
    torch = package("torch")
    # cuBLAS reads this when it is first used, and adds up in a fixed order only with it.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    with own_draws(torch):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before[0], warn_only=before[1])
