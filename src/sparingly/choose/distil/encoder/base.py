"""The transformer that an encoder starts from: by its name on the hub, or from a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import Any, NamedTuple

from sparingly.base.errors import InputError, UsageError, one_line
from sparingly.choose.distil.encoder.packages import package
from sparingly.choose.distil.encoder.tokens import Tokens, tokens_of
from sparingly.data.signature import LETTERS

# What a configuration may name that brings code, or weights in a form of their own, from elsewhere.
_NEVER = ("auto_map", "quantization_config", "attn_implementation", "experts_implementation", "dtype")
_FEW_IDS = 8


class Base(NamedTuple):
    """A transformer: its network, its configuration as plain values, and its tokenizer."""

    transformer: Any
    config: dict[str, Any]
    tokens: Tokens


def load_base(name: str, longest: int) -> Base:
    """Load a transformer; only safetensors are read, and no code that comes with the weights is run."""
    transformers = package("transformers")
    is_folder = Path(name).is_dir()
    how = {"trust_remote_code": False, "local_files_only": is_folder}
    try:
        with _silent(transformers.utils.logging):
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True, **how)
            # Weights that were saved in half precision cannot be trained in it: small steps vanish.
            model = transformers.AutoModel.from_pretrained(name, use_safetensors=True, **how).float()
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, AttributeError, TypeError) as error:
        raise UsageError(_not_loaded(name, is_folder, error)) from None
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(f'The tokenizer of "{name}" has no tokenizer.json: save it as a fast tokenizer.')
    # As it is read from a file: names of numbers are texts there.
    config = loads(dumps(plain_config(model.config.to_dict())))
    tokens = tokens_of(tokenizer, _longest(config, tokenizer, longest))
    return Base(_encoding_part(model), config, tokens)


def built(config: dict[str, Any]) -> Any:
    """Return a transformer of some form, with weights that mean nothing yet."""
    transformers = package("transformers")
    values = plain_config(config)
    kind = values.pop("model_type", None)
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        raise InputError(f'transformers knows no model of the type "{kind}"', field="config.model_type")
    try:
        settled = transformers.AutoConfig.for_model(kind, **values)
        model = transformers.AutoModel.from_config(settled, trust_remote_code=False).float()
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


def base_digest(base: Base) -> str:
    """Return what tells a transformer from any other: its form, its tokens and its weights."""
    total = sha256(dumps(base.config, sort_keys=True).encode())
    total.update(base.tokens.json.encode())
    for name, weights in sorted(base.transformer.state_dict().items()):
        total.update(f"\x1f{name}{tuple(weights.shape)}".encode())
        total.update(weights.detach().float().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()[:LETTERS]


@contextmanager
def _silent(logging: Any) -> Iterator[None]:
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


def _longest(config: dict[str, Any], tokenizer: Any, longest: int) -> int:
    """Return the most tokens that the transformer has places for."""
    pad = tokenizer.pad_token_id or 0
    # Transformers of the RoBERTa kind count their places from behind the padding's number.
    spare = pad + 1 if pad < _FEW_IDS else 0
    places = [config[name] - spare for name in ("max_position_embeddings", "n_positions") if config.get(name)]
    return int(min(longest, tokenizer.model_max_length, *places))


def _not_loaded(name: str, is_folder: bool, error: Exception) -> str:
    reason = str(error).strip().partition("\n")[0]
    if is_folder:
        return one_line(
            f'The folder "{name}" holds no transformer that can be loaded: it needs config.json, '
            f"tokenizer.json and model.safetensors ({reason})."
        )
    return one_line(
        f'The transformer "{name}" cannot be loaded: it is no folder, and none with safetensors can be '
        f"fetched by that name ({reason})."
    )
