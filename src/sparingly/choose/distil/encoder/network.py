"""A transformer, the mean over its tokens, and a network with an output for every utility."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from itertools import pairwise
from json import dumps, loads
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.errors import InputError, UsageError, import_extra, one_line
from sparingly.data.signature import LETTERS

EXTRA = "distil,embed"
_FEATURE = "An encoder (transformers, safetensors and torch)"


def load_package(name: str) -> Any:
    """Return a package, or raise ExtraMissingError that says what to install."""
    return import_extra(name, _FEATURE, EXTRA)


def check_packages() -> None:
    """Raise ExtraMissingError if an encoder could not be trained, before data is read."""
    for name in ("torch", "transformers", "tokenizers", "safetensors.torch"):
        load_package(name)


_SHORTEST = 16
_AT_A_TIME = 4096


class TokenBatch(NamedTuple):
    """Some texts: their places, and their tokens and mask as rows, which may be more than the texts."""

    places: Ints
    tokens: Ints
    mask: Ints


class EncoderTokenizer:
    """A tokenizer from its JSON, without any class that a file could name."""

    def __init__(self, json: str, pad: int, longest: int) -> None:
        self.json, self.pad, self.longest = json, pad, longest
        try:
            self._tokenizer = load_package("tokenizers").Tokenizer.from_str(json)
        except InputError:
            raise
        except Exception:  # the package raises plain exceptions
            raise InputError("the tokenizer cannot be read", field="tokenizer") from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of every text, at least one and at most ``longest``."""
        all_ids: list[list[int]] = []
        for start in range(0, len(texts), _AT_A_TIME):
            # Without halves of surrogate pairs, which no tokenizer takes.
            part = [text.encode("utf-8", "replace").decode() for text in texts[start : start + _AT_A_TIME]]
            all_ids += [encoding.ids or [self.pad] for encoding in self._tokenizer.encode_batch(part)]
        return all_ids

    def batches(self, ids: Sequence[Sequence[int]], rows: int, *, fixed: bool) -> Iterator[TokenBatch]:
        """Yield texts of about one length together; with ``fixed``, always in as many rows.

        A sum in a matrix product may be rounded differently in a matrix of another shape. With fixed shapes
        a text gets the same number whatever texts are scored with it.
        """
        # Padded to the next power of two, so that the width depends on the text alone.
        powers = (1 << (len(tokens_of_text) - 1).bit_length() for tokens_of_text in ids)
        widths = np.array([min(self.longest, max(_SHORTEST, power)) for power in powers], np.int64)
        for width in np.unique(widths).tolist():
            places = np.flatnonzero(widths == width)
            for start in range(0, len(places), rows):
                batch_places = places[start : start + rows]
                shape = (rows if fixed else len(batch_places), width)
                tokens, mask = np.full(shape, self.pad, np.int64), np.zeros(shape, np.int64)
                # A row without any token would be a mean over nothing.
                mask[:, 0] = 1
                for row, place in enumerate(batch_places):
                    tokens[row, : len(ids[place])] = ids[place]
                    mask[row, : len(ids[place])] = 1
                yield TokenBatch(batch_places, tokens, mask)


_LAYER = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.")
_ENCODER, _HEAD = "encoder.", "head."


class Network:
    """û(x) = h(mean of t(x)), with t a transformer's last layer and h a network with tanh in between."""

    def __init__(self, transformer: Any, hidden: Sequence[int], utilities: int, dropout: float) -> None:
        nn = load_package("torch").nn
        widths = [
            getattr(transformer.config, name, None) for name in ("hidden_size", "d_model", "dim", "n_embd")
        ]
        width = next((width for width in widths if isinstance(width, int)), None)
        if width is None:
            raise InputError("the transformer does not say how wide it is", field="config.hidden_size")
        sizes = [width, *hidden]
        layers: list[Any] = []
        for low, high in pairwise(sizes):
            layers += [nn.Linear(low, high), nn.Tanh(), nn.Dropout(dropout)]
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

    def __call__(self, batch: TokenBatch) -> Any:
        """Return rows × utilities."""
        torch = load_package("torch")
        tokens = torch.from_numpy(batch.tokens).to(self.device)
        mask = torch.from_numpy(batch.mask).to(self.device)
        states = self.transformer(input_ids=tokens, attention_mask=mask).last_hidden_state.float()
        token_mask = mask.unsqueeze(-1).float()
        return self.head((states * token_mask).sum(dim=1) / token_mask.sum(dim=1)).float()

    def weights(self) -> dict[str, Any]:
        """Return all weights by name."""
        parts = ((_ENCODER, self.transformer), (_HEAD, self.head))
        return {
            f"{start}{name}": weight for start, part in parts for name, weight in part.state_dict().items()
        }

    def check_weights(self, weights: Mapping[str, Any]) -> None:
        """Refuse weights whose names, shapes or kinds are not those of the network."""
        expected = self.weights()
        for name in sorted(set(expected) ^ set(weights)):
            raise InputError("the model lacks these weights, or has them without a use", field=name)
        for name, weight in expected.items():
            tensor = weights[name]
            if tensor.shape != weight.shape or tensor.dtype != weight.dtype:
                raise InputError(
                    f"the weights are {tensor.dtype} of the shape {tuple(tensor.shape)}", field=name
                )

    def set_weights(self, weights: Mapping[str, Any]) -> None:
        """Take weights by name."""
        self.check_weights(weights)
        for module, start in ((self.transformer, _ENCODER), (self.head, _HEAD)):
            module.load_state_dict(with_prefix(weights, start))

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Yield what is trained, by name."""
        for start, part in ((_ENCODER, self.transformer), (_HEAD, self.head)):
            for name, parameter in part.named_parameters():
                yield f"{start}{name}", parameter

    def rates(self, rate: float, decay: float) -> dict[str, float]:
        """Return the learning rate of every weight: lower from layer to layer, lowest for the embeddings."""
        names = [name for name, _ in self.named_parameters()]
        layers = {name: int(match[1]) for name in names if (match := _LAYER.search(name))}
        top = max(layers.values(), default=-1)
        last = {name for name in names if name.startswith(_HEAD) or ".pooler." in name}
        return {name: rate * decay ** (0 if name in last else top - layers.get(name, -1)) for name in names}


def with_prefix(tensors: Mapping[str, Any], start: str) -> dict[str, Any]:
    """Return the tensors whose names begin with a text, by the rest of their names."""
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}


def best_device() -> str:
    """Return where to compute: on a GPU if there is one."""
    return "cuda" if load_package("torch").cuda.is_available() else "cpu"


def preserve_random_state(torch: Any) -> AbstractContextManager[None]:
    """Restore the state of torch's random generator afterwards."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    forked: AbstractContextManager[None] = torch.random.fork_rng(devices=devices)
    return forked


@contextmanager
def deterministic(seed: int) -> Iterator[None]:
    """Make torch draw from a seed and add up in a fixed order; restore its state afterwards."""
    torch = load_package("torch")
    # cuBLAS reads this when it is first used, and adds up in a fixed order only with it.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    settings_before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    with preserve_random_state(torch):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(settings_before[0], warn_only=settings_before[1])


# What a configuration may name that brings code, or weights in a form of their own, from elsewhere.
_NEVER = ("auto_map", "quantization_config", "attn_implementation", "experts_implementation", "dtype")
_FEW_IDS = 8


class BaseTransformer(NamedTuple):
    """A transformer: its network, its configuration as plain values, and its tokenizer."""

    transformer: Any
    config: dict[str, Any]
    tokens: EncoderTokenizer


def load_base(name: str, longest: int) -> BaseTransformer:
    """Load a transformer; only safetensors are read, and no code that comes with the weights is run."""
    transformers = load_package("transformers")
    is_folder = Path(name).is_dir()
    how = {"trust_remote_code": False, "local_files_only": is_folder}
    try:
        with _silence(transformers.utils.logging):
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True, **how)
            # Weights that were saved in half precision cannot be trained in it: small steps vanish.
            model = transformers.AutoModel.from_pretrained(name, use_safetensors=True, **how).float()
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, AttributeError, TypeError) as error:
        reason = str(error).strip().partition("\n")[0]
        problem = (
            f'The transformer "{name}" cannot be loaded: it is not a folder, and none with safetensors can '
            f"be fetched by that name ({reason})."
        )
        if is_folder:
            problem = (
                f'The folder "{name}" holds no transformer that can be loaded: it needs config.json, '
                f"tokenizer.json and model.safetensors ({reason})."
            )
        raise UsageError(one_line(problem)) from None
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(f'The tokenizer of "{name}" has no tokenizer.json: save it as a fast tokenizer.')
    # As it is read from a file: names of numbers are texts there.
    config = loads(dumps(plain_config(model.config.to_dict())))
    pad = tokenizer.pad_token_id or 0
    # Transformers of the RoBERTa kind count their places from behind the padding's number.
    spare = pad + 1 if pad < _FEW_IDS else 0
    places = [config[name] - spare for name in ("max_position_embeddings", "n_positions") if config.get(name)]
    max_tokens = int(min(longest, tokenizer.model_max_length, *places))
    tokens = EncoderTokenizer(tokenizer.backend_tokenizer.to_str(), int(pad), max_tokens)
    return BaseTransformer(_encoding_part(model), config, tokens)


def build_transformer(config: dict[str, Any]) -> Any:
    """Return an untrained transformer of a configuration."""
    transformers = load_package("transformers")
    values = plain_config(config)
    kind = values.pop("model_type", None)
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        raise InputError(f'transformers knows no model of the type "{kind}"', field="config.model_type")
    try:
        configuration = transformers.AutoConfig.for_model(kind, **values)
        model = transformers.AutoModel.from_config(configuration, trust_remote_code=False).float()
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError, ImportError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"no transformer can be built from the configuration ({reason})", field="config"
        ) from None
    return _encoding_part(model).float()


def plain_config(values: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration without anything that is fetched, or that would bring code."""
    return {
        name: plain_config(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if name not in _NEVER and not str(name).startswith("_")
    }


def base_digest(base: BaseTransformer) -> str:
    """Return the digest of a transformer: configuration, tokenizer and weights."""
    total = sha256(dumps(base.config, sort_keys=True).encode())
    total.update(base.tokens.json.encode())
    for name, weights in sorted(base.transformer.state_dict().items()):
        total.update(f"\x1f{name}{tuple(weights.shape)}".encode())
        total.update(weights.detach().float().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()[:LETTERS]


@contextmanager
def _silence(logging: Any) -> Iterator[None]:
    """Keep transformers from writing about weights that an encoder does not use, and about its progress."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _encoding_part(model: Any) -> Any:
    """Return the part that reads texts: of a translator, for example, its encoder alone."""
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model


# --- how an encoder is trained ---


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
