"""One measurement of py-irt, in its own environment: ``py_irt WORK DATA OUTCOME TARGETS EPOCHS``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.data import item_ids, model_ids, responses
from benchmarks.peers.timing import Timing, peak_megabytes, report, timed_anew
from sparingly.base.arrays import Floats

# Not installed where types are checked, so imported by name.
pandas, torch, pyro = (import_module(name) for name in ("pandas", "torch", "pyro"))
dataset = import_module("py_irt.dataset")
config = import_module("py_irt.config")
training = import_module("py_irt.training")

# Whether some cells are held out.
WORK: dict[str, bool] = {"irt": False, "irt_held_out": True}


def trainer(seen: Floats) -> Any:
    """Return a trainer of ``4pl`` that has its data (not timed); missing cells are left out."""
    items = item_ids(len(seen))
    frame = pandas.DataFrame({"model": model_ids()} | dict(zip(items, seen, strict=True)))
    made = dataset.Dataset.from_pandas(frame, subject_column="model", item_columns=items)
    pyro.set_rng_seed(0)
    return training.IrtModelTrainer(
        config=config.IrtConfig(model_type="4pl"), data_path=None, dataset=made, verbose=False
    )


def trained(made: Any) -> Any:
    """Fit; this is what is timed."""
    made.train(epochs=int(sys.argv[5]), device="cpu")
    return made


def predicted(found: dict[str, Any]) -> Floats:
    """Return the chance of success λ σ(γ (θ − b)) for every item and model, at the means of the fit."""
    ability, difficulty, slope, top = (
        np.array(found[name]) for name in ("ability", "diff", "disc", "lambdas")
    )
    chance = top[:, None] / (1.0 + np.exp(-slope[:, None] * (ability - difficulty[:, None])))
    # Models and items are numbered as they come, but the trainer says how.
    rows = np.argsort([found["item_ids"][place] for place in range(len(difficulty))])
    columns = np.argsort([found["subject_ids"][place] for place in range(len(ability))])
    return np.asarray(chance[np.ix_(rows, columns)])


def measured(seen: Floats) -> tuple[Timing, list[Any]]:
    """Time a fit; return the chances by the best single draw's parameters and by the last ones."""
    timing, made = timed_anew(lambda: trainer(seen), trained)
    return timing, [predicted(found).tolist() for found in (made.best_params, made.last_params)]


def main() -> None:
    """Load, measure, write the outcome."""
    torch.set_num_threads(1)
    with np.load(sys.argv[2]) as stored:
        seen = responses(stored["metric"], held_out=WORK[sys.argv[1]])
    loaded = peak_megabytes()
    timing, answer = measured(seen)
    report(Path(sys.argv[3]), timing, loaded, answer)


if __name__ == "__main__":
    main()
