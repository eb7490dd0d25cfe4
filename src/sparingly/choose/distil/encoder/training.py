"""Checkpoints of a training: safetensors with a few words in JSON, from which no code is ever run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.base.rng import keys_of, stream
from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.encoder.network import (
    Network,
    Tokens,
    base_digest,
    best_device,
    load_base,
    package,
    repeatable,
)
from sparingly.choose.distil.encoder.settings import EncoderTraining
from sparingly.data import files

# --- Checkpoints of a training: safetensors with a few words in JSON, from which no code is ever run


_STATE = "state"


@dataclass
class Progress:
    """How far a training is.

    Attributes:
        epoch: The epoch that is under way.
        updates: How many updates of it are done.
        best: The least loss so far on the texts set aside.
        waited: How many epochs ago that was.
        losses: The loss after every epoch.
        scaler: What half precision multiplies losses by, where that is used.
        is_done: Whether there is nothing left to do.
    """

    epoch: int = 0
    updates: int = 0
    best: float | None = None
    waited: int = 0
    losses: list[float] = field(default_factory=list)
    scaler: dict[str, Any] = field(default_factory=dict)
    is_done: bool = False


@dataclass(frozen=True)
class Checkpoint:
    """The file that a training is kept in, if it is kept; ``purpose`` tells this training from others."""

    path: Path | None
    purpose: str

    def read(self) -> tuple[Progress, dict[str, Any]] | None:
        """Return how far the training was, with its numbers; None where it is at its beginning."""
        if self.path is None or not self.path.exists():
            return None
        safetensors = package("safetensors")
        with files.naming(self.path):
            try:
                with safetensors.safe_open(self.path, framework="pt") as file:
                    said = json.loads((file.metadata() or {}).get(_STATE, "{}"))
                    numbers = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            except (safetensors.SafetensorError, ValueError):
                raise InputError(
                    "this is no checkpoint, or a damaged one", fix="Remove it, and train again"
                ) from None
        if said.pop("purpose", None) != self.purpose:
            raise UsageError(
                f"{self.path} is the checkpoint of another training: name another folder for checkpoints, "
                "or remove the file."
            )
        return Progress(**said), numbers

    def write(self, progress: Progress, numbers: Mapping[str, Any]) -> None:
        """Keep a training as it is now, whole or not at all."""
        if self.path is None:
            return
        held = {name: one.detach().cpu().clone().contiguous() for name, one in numbers.items()}
        said = json.dumps({**vars(progress), "purpose": self.purpose})
        content = package("safetensors.torch").save(held, metadata={_STATE: said})

        def put(file: IO[bytes]) -> None:
            file.write(content)

        self.path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(self.path, put)


# --- Training an encoder: updates from batches, a look at the texts set aside after every epoch, checkpoints


_LONGEST_STEP = 1.0
_NOW, _BEST, _FIRST, _SECOND, _COUNT = "now.", "best.", "first.", "second.", "count."


@dataclass(frozen=True, eq=False)
class Lesson:
    """The training texts as tokens, with targets of mean 0 and deviation 1, and a part set aside.

    Attributes:
        ids: The tokens of every text.
        targets: Texts × utilities, NaN where unknown.
        centre: The mean of every utility.
        spread: Its standard deviation.
        learned: The texts to learn from.
        aside: The texts that tell when to stop.
        keys: The key of every text, which its place in every epoch follows from.
    """

    ids: list[list[int]]
    targets: Floats
    centre: Floats
    spread: Floats
    learned: Ints
    aside: Ints
    keys: NDArray[np.uint64]


def fit_encoder(
    texts: Sequence[str], targets: Floats, training: EncoderTraining, seed: int, part: str
) -> EncoderFit:
    """Learn targets (texts × utilities, NaN where unknown) from distinct texts, which stand in order.

    Texts are told by an update's mean squared error over known targets; ``part`` names the checkpoint.
    """
    with repeatable(_number(seed, "start")):
        base = load_base(training.base, training.longest)
        started_from = base_digest(base)
        purpose = _purpose(started_from, texts, targets, training, seed)
        network = Network(base.transformer, training.hidden, targets.shape[1], training.dropout)
        network.to(best_device())
        lesson = lesson_of(base.tokens, texts, targets, training, seed)
        folder = training.checkpoints
        checkpoint = Checkpoint(None if folder is None else Path(folder) / f"{part}.safetensors", purpose)
        losses = Course(network, lesson, base.tokens, training, seed, checkpoint).run()
    return EncoderFit(
        network=network,
        config=base.config,
        tokens=base.tokens,
        hidden=training.hidden,
        centre=lesson.centre,
        spread=lesson.spread,
        started_from=started_from,
        losses=tuple(losses),
    )


def lesson_of(
    tokens: Tokens, texts: Sequence[str], targets: Floats, training: EncoderTraining, seed: int
) -> Lesson:
    """Return the tokens and targets of texts, and set a part of them aside by a hash of the texts."""
    keys = keys_of(list(texts))
    drawn = np.argsort(stream(keys, seed, "encoder aside"), kind="stable")
    count = min(len(texts) - 1, max(1, round(training.stop_share * len(texts))))
    aside, learned = np.sort(drawn[:count]), np.sort(drawn[count:])
    centre, spread = np.nanmean(targets, axis=0), np.nanstd(targets, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return Lesson(tokens.ids(texts), (targets - centre) / spread, centre, spread, learned, aside, keys)


class Course:
    """A training under way: everything that changes is in the network, the optimiser and the progress."""

    def __init__(
        self,
        network: Network,
        lesson: Lesson,
        tokens: Tokens,
        training: EncoderTraining,
        seed: int,
        checkpoint: Checkpoint,
    ) -> None:
        torch = package("torch")
        self._network, self._lesson, self._tokens = network, lesson, tokens
        self._training, self._seed, self._checkpoint = training, seed, checkpoint
        rates = network.rates(training.rate, training.layer_decay)
        groups = [
            {"params": [held for name, held in network.named_parameters() if rates[name] == rate], "lr": rate}
            for rate in sorted(set(rates.values()))
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=training.rate, weight_decay=training.weight_decay)
        self._half = half_precision(network.device, training.precision)
        self._scaler = torch.amp.GradScaler(network.device, enabled=self._half is torch.float16)
        self._progress, self._best = Progress(), dict[str, Any]()

    def run(self) -> list[float]:
        """Train to the end, from wherever a checkpoint stands, and leave the best weights in the network."""
        self._resume()
        progress = self._progress
        while not progress.is_done:
            self._one_epoch()
            self._look()
            progress.epoch, progress.updates = progress.epoch + 1, 0
            progress.is_done = (
                progress.epoch >= self._training.epochs or progress.waited >= self._training.patience
            )
            self._keep()
        self._network.set_weights(self._best)
        return progress.losses

    def _one_epoch(self) -> None:
        training, progress, lesson = self._training, self._progress, self._lesson
        order = np.argsort(stream(lesson.keys[lesson.learned], self._seed, f"encoder {progress.epoch}"))
        rows = lesson.learned[order]
        self._network.train(True)
        for start in range(progress.updates * training.batch, len(rows), training.batch):
            self._update(rows[start : start + training.batch])
            progress.updates += 1
            if progress.updates % training.every == 0:
                self._keep()

    def _update(self, rows: Ints) -> None:
        """Move the weights once, by the mean squared error of a batch that is read in several steps."""
        torch = package("torch")
        known = int((~np.isnan(self._lesson.targets[rows])).sum())
        if not known:
            return
        # A seed for every update: a training that was cut off drops the same numbers out when it goes on.
        torch.manual_seed(_number(self._seed, f"{self._progress.epoch} {self._progress.updates}"))
        self._optimiser.zero_grad(set_to_none=True)
        for error in self._errors(rows):
            if not torch.isfinite(error):
                raise DataError("The training of the encoder went astray: use a lower rate.")
            self._scaler.scale(error / known).backward()
        self._scaler.unscale_(self._optimiser)
        parameters = [held for _, held in self._network.named_parameters()]
        torch.nn.utils.clip_grad_norm_(parameters, _LONGEST_STEP)
        self._scaler.step(self._optimiser)
        self._scaler.update()

    def _errors(self, rows: Ints) -> Iterator[Any]:
        """Yield the squared errors of some texts, added up step by step."""
        torch = package("torch")
        ids = [self._lesson.ids[row] for row in rows]
        for batch in self._tokens.batches(ids, self._training.step, fixed=False):
            targets = torch.from_numpy(self._lesson.targets[rows[batch.places]]).float()
            targets = targets.to(self._network.device)
            with self._in_half():
                told = self._network(batch)
            known = ~torch.isnan(targets)
            yield ((told - torch.where(known, targets, 0.0)) ** 2 * known).sum()

    def _look(self) -> None:
        """Look at the texts set aside, and remember the weights where they were told best."""
        torch, progress, aside = package("torch"), self._progress, self._lesson.aside
        self._network.train(False)
        with torch.inference_mode():
            total = sum(float(error) for error in self._errors(aside))
        known = int((~np.isnan(self._lesson.targets[aside])).sum())
        loss = total / max(known, 1)
        progress.losses.append(loss)
        # Where nothing set aside is known, every epoch counts as a gain.
        if progress.best is None or not known or loss < progress.best:
            progress.best, progress.waited = loss, 0
            self._best = {name: held.detach().clone() for name, held in self._network.weights().items()}
        else:
            progress.waited += 1

    def _in_half(self) -> AbstractContextManager[Any]:
        if self._half is None:
            return nullcontext()
        autocast: AbstractContextManager[Any] = package("torch").autocast(self._network.device, self._half)
        return autocast

    def _keep(self) -> None:
        """Write a checkpoint; of a training that is over, the best weights alone."""
        if self._checkpoint.path is None:
            return
        self._progress.scaler = self._scaler.state_dict()
        held = {f"{_BEST}{name}": one for name, one in self._best.items()}
        if not self._progress.is_done:
            held |= {f"{_NOW}{name}": one for name, one in self._network.weights().items()}
            for name, parameter in self._network.named_parameters():
                if moments := self._optimiser.state.get(parameter):
                    held[f"{_FIRST}{name}"] = moments["exp_avg"]
                    held[f"{_SECOND}{name}"] = moments["exp_avg_sq"]
                    held[f"{_COUNT}{name}"] = moments["step"]
        self._checkpoint.write(self._progress, held)

    def _resume(self) -> None:
        """Go back to where the checkpoint stands, if there is one."""
        found = self._checkpoint.read()
        if found is None:
            return
        self._progress, held = found
        device = self._network.device
        self._best = {name: one.to(device) for name, one in _under(held, _BEST).items()}
        if self._progress.is_done:
            return
        self._network.set_weights({name: one.to(device) for name, one in _under(held, _NOW).items()})
        self._scaler.load_state_dict(self._progress.scaler)
        for name, parameter in self._network.named_parameters():
            if f"{_COUNT}{name}" in held:
                self._optimiser.state[parameter] = {
                    "step": held[f"{_COUNT}{name}"],
                    "exp_avg": held[f"{_FIRST}{name}"].to(device),
                    "exp_avg_sq": held[f"{_SECOND}{name}"].to(device),
                }


def half_precision(device: str, precision: str) -> Any | None:
    """Return the kind of half precision to compute in: bfloat16 where a GPU has it; None on a processor."""
    torch = package("torch")
    if device != "cuda" or precision == "full":
        return None
    has_it = torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if has_it else torch.float16


def _under(held: dict[str, Any], start: str) -> dict[str, Any]:
    return {name.removeprefix(start): one for name, one in held.items() if name.startswith(start)}


def _number(seed: int, purpose: str) -> int:
    return int(stream(keys_of([purpose]), seed, "encoder")[0] >> np.uint64(1))


def _purpose(
    started_from: str, texts: Sequence[str], targets: Floats, training: EncoderTraining, seed: int
) -> str:
    """Return what tells this training from all others."""
    total = sha256(f"{started_from}\x1f{training.text}\x1f{seed}".encode())
    for text in texts:
        total.update(f"\x1f{text}".encode("utf-8", "surrogatepass"))
    total.update(np.ascontiguousarray(targets).tobytes())
    return total.hexdigest()
