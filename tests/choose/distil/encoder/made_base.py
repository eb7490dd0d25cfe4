"""A transformer of two layers with a tokenizer of its own, made on the spot and saved as on the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparingly.choose.distil.encoder.network import EncoderTraining
from tests.choose.distil.made_past import EASY, HARD

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({*HARD, *EASY, "We", "saw", "."}))
QUICK: dict[str, Any] = {"batch": 16, "rate": 2e-3, "hidden": (32, 16), "patience": 3}


def quick(base: Path, **how: Any) -> EncoderTraining:
    """Return how a small transformer without any knowledge learns in a few seconds."""
    return EncoderTraining(str(base), **{**QUICK, "epochs": 6, "measured": 1, **how})


def save_tokenizer(folder: Path) -> None:
    """Write a tokenizer that knows the words of the made sentences."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    known = {word: place for place, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token=WORDS[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **special)
    fast.save_pretrained(folder)


def save_base(folder: Path, kind: str = "bert", dropout: float = 0.1) -> Path:
    """Write a transformer of some kind into a folder, and return the folder."""
    import torch
    import transformers

    sizes: dict[str, dict[str, Any]] = {
        "bert": {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 64,
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
        },
        "distilbert": {
            "dim": 32,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 64,
            "max_position_embeddings": 64,
        },
        "t5": {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2},
    }
    sizes["xlm-roberta"] = {**sizes["bert"], "pad_token_id": 0}
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder)
    config = transformers.AutoConfig.for_model(kind, vocab_size=len(WORDS), **sizes[kind])
    with torch.random.fork_rng():
        torch.manual_seed(1)
        transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder
