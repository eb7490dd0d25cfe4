"""A trained encoder: predictions, and its file, an archive of safetensors, a tokenizer and JSON.

Nothing in the file can name code: weights are safetensors, all else is JSON, the transformer is built by the
installed transformers from the type that the configuration names, and the tokenizer is read by tokenizers.
Members are stored uncompressed, so a file cannot unfold into something larger than itself.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError
from sparingly.choose.distil.card import ModelCard
from sparingly.choose.distil.encoder.network import (
    EncoderTokenizer,
    EncoderTraining,
    Network,
    best_device,
    build_transformer,
    load_package,
    preserve_random_state,
)
from sparingly.choose.distil.text_features import SEEN_BITS, Spans
from sparingly.data import files
from sparingly.data.values import as_list, as_mapping, as_number, as_text, as_whole

_ROWS = {"cpu": 16, "cuda": 128}


@dataclass(frozen=True, eq=False)
class EncoderFit:
    """A trained encoder: the network, and the scale of every utility."""

    dimensions: ClassVar[int | None] = None  # an encoder reads texts, and takes no vectors

    network: Network
    config: dict[str, Any]  # the form of the transformer
    tokens: EncoderTokenizer
    hidden: tuple[int, ...]  # the hidden layers on top
    centre: Floats  # mean and standard deviation of every utility
    spread: Floats
    started_from: str  # the digest of the transformer that it started from
    losses: tuple[float, ...]  # squared error on the texts set aside after every epoch, in deviations

    def predict(self, texts: Sequence[str], vectors: Floats | None = None) -> Floats:
        """Return texts × utilities, in single precision; the same whatever other texts are in the call."""
        torch = load_package("torch")
        values = np.empty((len(texts), len(self.centre)))
        self.network.train(False)
        rows = _ROWS[self.network.device]
        with torch.inference_mode():
            for batch in self.tokens.batches(self.tokens.ids(texts), rows, fixed=True):
                values[batch.places] = self.network(batch)[: len(batch.places)].cpu().numpy()
        return values * self.spread + self.centre

    def predict_block(self, spans: Spans, vectors: Floats | None = None) -> Floats:
        """Return texts × utilities for a block."""
        return self.predict(spans.texts)

    def training_card(self, training: EncoderTraining) -> dict[str, Any]:
        """Return the settings and the history of the training, for the card."""
        settings = training.settings()
        del settings["base"]
        history = {"tokens": self.tokens.longest, "losses": list(self.losses)}
        return {**settings, **history, "best_epoch": 1 + int(np.argmin(self.losses))}

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return all numbers by name."""
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.network.weights().items()}
        return {**weights, "centre": self.centre, "spread": self.spread}

    def documents(self) -> dict[str, str]:
        """Return the parts that are not arrays, as JSON by name: the network's shape and the tokenizer."""
        network = {"hidden": list(self.hidden), "pad": self.tokens.pad, "longest": self.tokens.longest}
        history = {"losses": list(self.losses), "started_from": self.started_from}
        return {
            "config": dumps(self.config, sort_keys=True),
            "network": dumps({**network, **history}, sort_keys=True),
            "tokenizer": self.tokens.json,
        }


WEIGHTS = "weights.safetensors"
_CARD, _JSON = "card.json", ("config", "network", "tokenizer")
_MOST_JSON = 1 << 28
_OURS = "Use a model that was saved by sparingly distil train"
# The same moment for every member, so that the same model is the same file.
_MOMENT = (1980, 1, 1, 0, 0, 0)

SeenBits = NDArray[np.uint8]


def save_encoder(card: ModelCard, fit: EncoderFit, seen_ngrams: SeenBits, path: Path) -> None:
    """Write an encoder, whole or not at all."""
    torch = load_package("torch")
    numbers = {**fit.numbers(), "seen": seen_ngrams}
    tensors = {name: torch.from_numpy(np.array(array, order="C")) for name, array in numbers.items()}
    members: dict[str, bytes] = {
        _CARD: json.dumps(card.to_dict(), ensure_ascii=True, allow_nan=False).encode(),
        **{f"{name}.json": text.encode() for name, text in fit.documents().items()},
        WEIGHTS: load_package("safetensors.torch").save(tensors),
    }

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name, _MOMENT), content)

    files.write_atomically(path, write)


def is_encoder(path: Path) -> bool:
    """Whether a file is the archive of an encoder."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return WEIGHTS in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def load_encoder(path: Path) -> tuple[ModelCard, EncoderFit, SeenBits]:
    """Read an encoder from its file; nothing in the file is ever run."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise InputError("the file is packed, which no encoder is", fix=_OURS)
            card = ModelCard.from_dict(_parse_json(_text(archive, _CARD), _CARD))
            documents = {name: _text(archive, f"{name}.json") for name in _JSON}
            weights = _weights(archive.read(WEIGHTS))
    except (zipfile.BadZipFile, EOFError, KeyError, OSError, NotImplementedError, RuntimeError):
        raise InputError("this is not an encoder's file, or a damaged one", fix=_OURS) from None
    count = len(card.utilities)
    if not count or len(set(card.names)) < count or card.learner != "encoder":
        raise InputError("the card is no encoder's, or names no utility, or one twice", field="utilities")
    config, form = (_parse_json(documents[name], name) for name in ("config", "network"))
    seen_ngrams = _array(weights, "seen", np.uint8, (1 << SEEN_BITS) // 8)
    centre, spread = (_array(weights, name, np.float64, count) for name in ("centre", "spread"))
    if (spread <= 0).any():
        raise InputError("a standard deviation is not above 0", field="spread")
    hidden = tuple(as_whole(size, "network.hidden") for size in as_list(form.get("hidden"), "network.hidden"))
    losses = tuple(
        as_number(loss, "network.losses") for loss in as_list(form.get("losses"), "network.losses")
    )
    pad, longest = (as_whole(form.get(name), f"network.{name}") for name in ("pad", "longest"))
    if pad < 0 or min(longest, *hidden) < 1:
        raise InputError("a size is too small", field="network")
    tokens = EncoderTokenizer(documents["tokenizer"], pad, longest)
    torch = load_package("torch")
    # First as shapes alone: a configuration may ask for more memory than there is.
    with torch.device("meta"):
        Network(build_transformer(config), hidden, count, 0.0).check_weights(weights)
    with preserve_random_state(torch):
        network = Network(build_transformer(config), hidden, count, 0.0)
    network.set_weights(weights)
    network.to(best_device())
    start = as_text(form.get("started_from"), "network.started_from") or ""
    return card, EncoderFit(network, config, tokens, hidden, centre, spread, start, losses), seen_ngrams


def _weights(content: bytes) -> dict[str, Any]:
    safetensors = load_package("safetensors.torch")
    try:
        tensors: dict[str, Any] = safetensors.load(content)
    except Exception:  # the package's own error derives from Exception alone
        raise InputError(
            "the weights are no safetensors, or damaged ones", field=WEIGHTS, fix=_OURS
        ) from None
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise InputError("a number is not finite", field=name)
    return tensors


def _array(weights: dict[str, Any], name: str, kind: type[Any], size: int) -> NDArray[Any]:
    """Take an array of its own from the weights."""
    if name not in weights:
        raise InputError("the model lacks these numbers", field=name)
    array: NDArray[Any] = weights.pop(name).numpy()
    if array.dtype != kind or array.shape != (size,):
        raise InputError(f"the numbers are {array.dtype} of the shape {array.shape}", field=name)
    return array


def _text(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > _MOST_JSON:
        raise InputError("the file is too large for a model", field=name)
    try:
        return archive.read(name).decode()
    except UnicodeDecodeError:
        raise InputError("this is not JSON", field=name) from None


def _parse_json(text: str, name: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("this is not JSON", field=name) from None
    return as_mapping(values, name)
