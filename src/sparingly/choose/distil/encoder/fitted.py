"""What an encoder has learned: it tells utilities from texts."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError
from sparingly.choose.distil.card import Card
from sparingly.choose.distil.encoder.network import Network, Tokens, best_device, built, own_draws, package
from sparingly.choose.distil.encoder.settings import EncoderTraining
from sparingly.choose.distil.out_of_domain import SEEN_BITS
from sparingly.choose.distil.text_features import Spans
from sparingly.data import files
from sparingly.data.values import as_list, as_mapping, as_number, as_text, as_whole

# --- What an encoder has learned: it tells utilities from texts


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


# --- An encoder as one file: an archive of safetensors, a tokenizer, a configuration and the card
# Nothing in it can name code: weights are safetensors, all else is JSON, the transformer is built by the
# installed transformers from the type that the configuration names, and the tokenizer is read by tokenizers.
# Members are stored as they are, so a file cannot unfold into something larger than itself.


WEIGHTS = "weights.safetensors"
_CARD, _JSON = "card.json", ("config", "network", "tokenizer")
_MOST_JSON = 1 << 28
_OURS = "Use a model that was saved by sparingly distil train"
# The same moment for every member, so that the same model is the same file.
_MOMENT = (1980, 1, 1, 0, 0, 0)

Seen = NDArray[np.uint8]


def save_encoder(card: Card, fit: EncoderFit, seen: Seen, path: Path) -> None:
    """Write an encoder, whole or not at all."""
    torch = package("torch")
    numbers = {**fit.numbers(), "seen": seen}
    held = {name: torch.from_numpy(np.array(array, order="C")) for name, array in numbers.items()}
    members: dict[str, bytes] = {
        _CARD: json.dumps(card.to_dict(), ensure_ascii=True, allow_nan=False).encode(),
        **{f"{name}.json": text.encode() for name, text in fit.forms().items()},
        WEIGHTS: package("safetensors.torch").save(held),
    }

    def put(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name, _MOMENT), content)

    files.write_atomically(path, put)


def is_encoder(path: Path) -> bool:
    """Whether a file is the archive of an encoder."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return WEIGHTS in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def load_encoder(path: Path) -> tuple[Card, EncoderFit, Seen]:
    """Read an encoder from its file; nothing in the file is ever run."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise InputError("the file is packed, which no encoder is", fix=_OURS)
            card = Card.from_dict(_mapping(archive, _CARD))
            said = {name: _text(archive, f"{name}.json") for name in _JSON}
            held = _weights(archive.read(WEIGHTS))
    except (zipfile.BadZipFile, EOFError, KeyError, OSError, NotImplementedError, RuntimeError):
        raise InputError("this is no encoder's file, or a damaged one", fix=_OURS) from None
    return _made(card, said, held)


def _made(card: Card, said: dict[str, str], held: dict[str, Any]) -> tuple[Card, EncoderFit, Seen]:
    """Put a network together; weights that do not fit the card are an error."""
    count = len(card.utilities)
    if not count or len(set(card.names)) < count or card.learner != "encoder":
        raise InputError("the card is no encoder's, or names no utility, or one twice", field="utilities")
    config, form = (_parsed(said[name], name) for name in ("config", "network"))
    seen = _array(held, "seen", np.uint8, (1 << SEEN_BITS) // 8)
    centre, spread = (_array(held, name, np.float64, count) for name in ("centre", "spread"))
    if (spread <= 0).any():
        raise InputError("a standard deviation is not above 0", field="spread")
    hidden = tuple(as_whole(size, "network.hidden") for size in as_list(form.get("hidden"), "network.hidden"))
    losses = tuple(
        as_number(loss, "network.losses") for loss in as_list(form.get("losses"), "network.losses")
    )
    pad, longest = (as_whole(form.get(name), f"network.{name}") for name in ("pad", "longest"))
    if pad < 0 or min(longest, *hidden) < 1:
        raise InputError("a size is too small", field="network")
    tokens = Tokens(said["tokenizer"], pad, longest)
    network = _network(config, hidden, count, held)
    start = as_text(form.get("started_from"), "network.started_from") or ""
    return card, EncoderFit(network, config, tokens, hidden, centre, spread, start, losses), seen


def _network(
    config: dict[str, Any], hidden: tuple[int, ...], utilities: int, held: dict[str, Any]
) -> Network:
    torch = package("torch")
    # First as shapes alone: a configuration may ask for more memory than there is.
    with torch.device("meta"):
        Network(built(config), hidden, utilities, 0.0).check_weights(held)
    with own_draws(torch):
        network = Network(built(config), hidden, utilities, 0.0)
    network.set_weights(held)
    network.to(best_device())
    return network


def _weights(content: bytes) -> dict[str, Any]:
    safetensors = package("safetensors.torch")
    try:
        held: dict[str, Any] = safetensors.load(content)
    except Exception:  # the package's own error derives from Exception alone
        raise InputError(
            "the weights are no safetensors, or damaged ones", field=WEIGHTS, fix=_OURS
        ) from None
    for name, weights in held.items():
        if weights.is_floating_point() and not weights.isfinite().all():
            raise InputError("a number is not finite", field=name)
    return held


def _array(held: dict[str, Any], name: str, kind: type[Any], size: int) -> NDArray[Any]:
    """Take an array of its own from the weights."""
    if name not in held:
        raise InputError("the model lacks these numbers", field=name)
    array: NDArray[Any] = held.pop(name).numpy()
    if array.dtype != kind or array.shape != (size,):
        raise InputError(f"the numbers are {array.dtype} of the shape {array.shape}", field=name)
    return array


def _text(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > _MOST_JSON:
        raise InputError("the file is too large for a model", field=name)
    try:
        return archive.read(name).decode()
    except UnicodeDecodeError:
        raise InputError("this is no JSON", field=name) from None


def _mapping(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    return _parsed(_text(archive, name), name)


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        return as_mapping(json.loads(text), name)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("this is no JSON", field=name) from None
