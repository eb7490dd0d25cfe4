"""Training an encoder: updates from batches, validation after every epoch, checkpoints.

Checkpoints are safetensors with a state in JSON, from which no code is ever run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.base.progress import report_progress
from sparingly.base.rng import keys_of, stream
from sparingly.base.syntax import either
from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.encoder.network import (
    EncoderTokenizer,
    EncoderTraining,
    Network,
    base_digest,
    best_device,
    deterministic,
    load_base,
    load_package,
    with_prefix,
)
from sparingly.data import files

_STATE = "state"


@dataclass
class TrainingProgress:
    """How far a training is."""

    epoch: int = 0  # the one under way
    updates: int = 0  # of that epoch
    best: float | None = None  # the least loss so far on the validation texts
    waited: int = 0  # how many epochs ago that was
    losses: list[float] = field(default_factory=list)  # after every epoch
    scaler: dict[str, Any] = field(default_factory=dict)  # what half precision multiplies losses by
    is_done: bool = False


@dataclass(frozen=True)
class Checkpoint:
    """The file of a training, or none; ``purpose`` is a digest of all that the training depends on."""

    path: Path | None
    purpose: str

    def read(self) -> tuple[TrainingProgress, dict[str, Any]] | None:
        """Return the progress and the tensors of the training; None at its beginning."""
        if self.path is None or not self.path.exists():
            return None
        safetensors = load_package("safetensors")
        with files.naming(self.path):
            try:
                with safetensors.safe_open(self.path, framework="pt") as file:
                    state = json.loads((file.metadata() or {}).get(_STATE, "{}"))
                    numbers = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            except (safetensors.SafetensorError, ValueError):
                raise InputError(
                    "this is not a checkpoint, or a damaged one", fix="Remove it, and train again"
                ) from None
        if state.pop("purpose", None) != self.purpose:
            raise UsageError(
                f"{self.path} is the checkpoint of another training: name another folder for checkpoints, "
                "or remove the file."
            )
        return TrainingProgress(**state), numbers

    def write(self, progress: TrainingProgress, numbers: Mapping[str, Any]) -> None:
        """Write the state of a training, whole or not at all."""
        if self.path is None:
            return
        tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in numbers.items()}
        state = json.dumps({**vars(progress), "purpose": self.purpose})
        content = load_package("safetensors.torch").save(tensors, metadata={_STATE: state})

        self.path.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(self.path, content)


_LONGEST_STEP = 1.0
_CURRENT, _BEST, _FIRST, _SECOND, _COUNT = "now.", "best.", "first.", "second.", "count."


@dataclass(frozen=True, eq=False)
class TrainingTexts:
    """The training texts as tokens, with targets of mean 0 and deviation 1, and a validation part."""

    ids: list[list[int]]  # the tokens of every text
    targets: Floats  # texts × utilities, NaN where unknown
    centre: Floats  # mean and standard deviation of every utility
    spread: Floats
    training: Ints  # the texts to learn from
    validation: Ints  # those that decide when to stop
    keys: NDArray[np.uint64]  # from which the place of a text in every epoch follows


def fit_encoder(
    texts: Sequence[str], targets: Floats, training: EncoderTraining, seed: int, part: str
) -> EncoderFit:
    """Learn targets (texts × utilities, NaN where unknown) from distinct texts, which stand in order.

    The loss is the mean squared error over known targets; ``part`` names the checkpoint.
    """
    with deterministic(_number(seed, "start")):
        base = load_base(training.base, training.longest)
        started_from = base_digest(base)
        # A digest of all that the training depends on.
        purpose = sha256(f"{started_from}\x1f{training.text}\x1f{seed}".encode())
        for text in texts:
            purpose.update(f"\x1f{text}".encode("utf-8", "surrogatepass"))
        purpose.update(np.ascontiguousarray(targets).tobytes())
        network = Network(base.transformer, training.hidden, targets.shape[1], training.dropout)
        network.to(best_device())
        training_texts = prepare_texts(base.tokens, texts, targets, training, seed)
        folder = training.checkpoints
        path = None if folder is None else Path(folder) / f"{part}.safetensors"
        checkpoint = Checkpoint(path, purpose.hexdigest())
        losses = Trainer(network, training_texts, base.tokens, training, seed, checkpoint).run()
    return EncoderFit(
        network=network,
        config=base.config,
        tokens=base.tokens,
        hidden=training.hidden,
        centre=training_texts.centre,
        spread=training_texts.spread,
        started_from=started_from,
        losses=tuple(losses),
    )


def prepare_texts(
    tokens: EncoderTokenizer, texts: Sequence[str], targets: Floats, training: EncoderTraining, seed: int
) -> TrainingTexts:
    """Return the tokens and targets of texts, and set a part of them aside by a hash of the texts."""
    keys = keys_of(list(texts))
    shuffled = np.argsort(stream(keys, seed, "encoder aside"), kind="stable")
    count = min(len(texts) - 1, max(1, round(training.stop_share * len(texts))))
    validation, training_rows = np.sort(shuffled[:count]), np.sort(shuffled[count:])
    centre, spread = np.nanmean(targets, axis=0), np.nanstd(targets, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return TrainingTexts(
        tokens.ids(texts), (targets - centre) / spread, centre, spread, training_rows, validation, keys
    )


class Trainer:
    """A running training: its state is in the network, the optimiser and the progress."""

    def __init__(
        self,
        network: Network,
        training_texts: TrainingTexts,
        tokens: EncoderTokenizer,
        training: EncoderTraining,
        seed: int,
        checkpoint: Checkpoint,
    ) -> None:
        torch = load_package("torch")
        self._network, self._texts, self._tokens = network, training_texts, tokens
        self._training, self._seed, self._checkpoint = training, seed, checkpoint
        rates = network.rates(training.rate, training.layer_decay)
        by_rate: dict[float, list[Any]] = {rate: [] for rate in sorted(set(rates.values()))}
        for name, parameter in network.named_parameters():
            by_rate[rates[name]].append(parameter)
        groups = [{"params": parameters, "lr": rate} for rate, parameters in by_rate.items()]
        self._optimiser = torch.optim.AdamW(groups, lr=training.rate, weight_decay=training.weight_decay)
        self._half = half_precision(network.device, training.precision)
        self._scaler = torch.amp.GradScaler(network.device, enabled=self._half is torch.float16)
        self._progress, self._best = TrainingProgress(), dict[str, Any]()

    def run(self) -> list[float]:
        """Train to the end, from wherever a checkpoint stands, and leave the best weights in the network."""
        self._resume()
        progress = self._progress
        while not progress.is_done:
            keys = self._texts.keys[self._texts.training]
            rows = self._texts.training[np.argsort(stream(keys, self._seed, f"encoder {progress.epoch}"))]
            self._network.train(True)
            for start in range(progress.updates * self._training.batch, len(rows), self._training.batch):
                report_progress(progress.epoch * len(rows) + start, self._training.epochs * len(rows))
                self._update(rows[start : start + self._training.batch])
                progress.updates += 1
                if progress.updates % self._training.every == 0:
                    self._write_checkpoint()
            self._validate()
            progress.epoch, progress.updates = progress.epoch + 1, 0
            progress.is_done = (
                progress.epoch >= self._training.epochs or progress.waited >= self._training.patience
            )
            self._write_checkpoint()
        self._network.set_weights(self._best)
        return progress.losses

    def _update(self, rows: Ints) -> None:
        """Move the weights once, by the mean squared error of a batch that is read in several steps."""
        torch = load_package("torch")
        label_count = int((~np.isnan(self._texts.targets[rows])).sum())
        if not label_count:
            return
        # A seed for every update: a training that was cut off drops the same numbers out when it goes on.
        torch.manual_seed(_number(self._seed, f"{self._progress.epoch} {self._progress.updates}"))
        self._optimiser.zero_grad(set_to_none=True)
        for error in self._errors(rows):
            if not torch.isfinite(error):
                raise DataError(
                    f"The training of the encoder diverged: use a lower {either('--learning-rate', 'rate=')}."
                )
            self._scaler.scale(error / label_count).backward()
        self._scaler.unscale_(self._optimiser)
        parameters = [parameter for _, parameter in self._network.named_parameters()]
        torch.nn.utils.clip_grad_norm_(parameters, _LONGEST_STEP)
        self._scaler.step(self._optimiser)
        self._scaler.update()

    def _errors(self, rows: Ints) -> Iterator[Any]:
        """Yield the squared errors of some texts, added up step by step."""
        torch = load_package("torch")
        ids = [self._texts.ids[row] for row in rows]
        for batch in self._tokens.batches(ids, self._training.step, fixed=False):
            targets = torch.from_numpy(self._texts.targets[rows[batch.places]]).float()
            targets = targets.to(self._network.device)
            half = self._half
            with nullcontext() if half is None else torch.autocast(self._network.device, half):
                predictions = self._network(batch)
            present = ~torch.isnan(targets)
            yield ((predictions - torch.where(present, targets, 0.0)) ** 2 * present).sum()

    def _validate(self) -> None:
        """Compute the loss on the validation texts, and remember the best weights."""
        torch, progress, rows = load_package("torch"), self._progress, self._texts.validation
        self._network.train(False)
        with torch.inference_mode():
            total = sum(float(error) for error in self._errors(rows))
        label_count = int((~np.isnan(self._texts.targets[rows])).sum())
        loss = total / max(label_count, 1)
        progress.losses.append(loss)
        # Without validation labels every epoch counts as a gain.
        if progress.best is None or not label_count or loss < progress.best:
            progress.best, progress.waited = loss, 0
            self._best = {name: weight.detach().clone() for name, weight in self._network.weights().items()}
        else:
            progress.waited += 1

    def _write_checkpoint(self) -> None:
        """Write a checkpoint; of a training that is over, the best weights alone."""
        if self._checkpoint.path is None:
            return
        self._progress.scaler = self._scaler.state_dict()
        tensors = {f"{_BEST}{name}": tensor for name, tensor in self._best.items()}
        if not self._progress.is_done:
            tensors |= {f"{_CURRENT}{name}": tensor for name, tensor in self._network.weights().items()}
            for name, parameter in self._network.named_parameters():
                if moments := self._optimiser.state.get(parameter):
                    tensors[f"{_FIRST}{name}"] = moments["exp_avg"]
                    tensors[f"{_SECOND}{name}"] = moments["exp_avg_sq"]
                    tensors[f"{_COUNT}{name}"] = moments["step"]
        self._checkpoint.write(self._progress, tensors)

    def _resume(self) -> None:
        """Restore the state of the checkpoint, if there is one."""
        checkpoint = self._checkpoint.read()
        if checkpoint is None:
            return
        self._progress, tensors = checkpoint
        device = self._network.device
        self._best = {name: tensor.to(device) for name, tensor in with_prefix(tensors, _BEST).items()}
        if self._progress.is_done:
            return
        self._network.set_weights(with_prefix(tensors, _CURRENT))
        self._scaler.load_state_dict(self._progress.scaler)
        for name, parameter in self._network.named_parameters():
            if f"{_COUNT}{name}" in tensors:
                self._optimiser.state[parameter] = {
                    "step": tensors[f"{_COUNT}{name}"],
                    "exp_avg": tensors[f"{_FIRST}{name}"].to(device),
                    "exp_avg_sq": tensors[f"{_SECOND}{name}"].to(device),
                }


def half_precision(device: str, precision: str) -> Any | None:
    """Return the kind of half precision to compute in: bfloat16 where a GPU has it; None on a processor."""
    torch = load_package("torch")
    if device != "cuda" or precision == "full":
        return None
    has_it = torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if has_it else torch.float16


def _number(seed: int, purpose: str) -> int:
    return int(stream(keys_of([purpose]), seed, "encoder")[0] >> np.uint64(1))
