"""Checkpoints of a training: safetensors with a few words in JSON, from which no code is ever run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from sparingly.base.errors import InputError, UsageError
from sparingly.choose.distil.encoder.packages import package
from sparingly.data import files

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
