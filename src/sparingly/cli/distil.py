"""``sparingly distil``: learn a utility from past evaluations, and tell it for sources alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App

from sparingly.base.errors import UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, Seed, emit, working, write_rows
from sparingly.cli.parameters import about, options, repeatable, several

if TYPE_CHECKING:
    from sparingly.choose.distil.encoder.network import EncoderTraining
    from sparingly.data.evalset import EvalSet

_HELP = """Learn from past evaluations which sources are worth judging.

```
sparingly distil train past.jsonl --utility hard=metric_avg:metric=COMET --out hard.skops
```

A model is one file; loading it runs no code. Training needs the extra `distil`; an encoder also needs
`embed`.

```
sparingly distil apply hard.skops sources.jsonl --out scored.jsonl
```
"""
ModelFile = Annotated[Path, about("The model's file, such as model.skops.")]
distil = App(name="distil", help=_HELP)


@options
class LearningOptions:
    """How is learned."""

    learner: Annotated[
        Literal["ridge", "boosting", "encoder"],
        about("Ridge regression, boosted trees on top of it, or a transformer that is trained."),
    ] = "ridge"
    features: Annotated[
        str, about("ngrams, a sentence-transformers model, column:NAME, or a file of vectors.")
    ] = "ngrams"
    scale: Annotated[
        Literal["zscore", "rank", "none"],
        about("How utilities of several data sets are made comparable.", "--rescale"),
    ] = "zscore"
    hold_out: Annotated[
        Literal["sets", "items"] | None,
        about("What is held out to measure: sets where there are several, else items."),
    ] = None
    folds: Annotated[int, about("When items are held out: in how many parts.")] = 5
    seed: Seed = 0


@options
class EncoderOptions:
    """How an encoder is trained."""

    base: Annotated[str | None, about("For an encoder: a transformer's name on the hub, or its folder.")] = (
        None
    )
    epochs: Annotated[int, about("The most passes of an encoder over the texts.")] = 5
    batch: Annotated[int, about("How many texts an encoder moves by at a time.")] = 128
    rate: Annotated[float, about("The learning rate of an encoder.", "--learning-rate")] = 1.5e-5
    precision: Annotated[
        Literal["auto", "full"], about("Half precision on a GPU, or full precision always.")
    ] = "auto"
    checkpoints: Annotated[
        Path | None, about("A folder that saves an encoder's training, to continue it later.")
    ] = None
    measured: Annotated[
        int | None, about("How many held-out parts an encoder predicts, one training each; default: all.")
    ] = None

    def training(self) -> EncoderTraining | None:
        """Return how to train; None where no transformer is named."""
        from sparingly.choose.distil.encoder.network import EncoderTraining

        settings = {name: value for name, value in vars(self).items() if name != "base"}
        return None if self.base is None else EncoderTraining(self.base, **settings)


DEFAULT_LEARNING, DEFAULT_ENCODING = LearningOptions(), EncoderOptions()


@distil.command
def train(
    data: Annotated[tuple[str, ...], about("Past evaluations: files, or NAME=FILE.")],
    /,
    *,
    utility: Annotated[
        tuple[str, ...],
        several("What to learn: metric_var:metric=COMET, NAME=UTILITY, aspect:overall", "--utility", "-u"),
    ],
    out: Annotated[Path, about("Where to write the model.", "--out", "-o")],
    learning: LearningOptions = DEFAULT_LEARNING,
    encoding: EncoderOptions = DEFAULT_ENCODING,
    family: Annotated[tuple[str, ...], several("MODEL=FAMILY, for the card")] = (),
    language: Annotated[tuple[str, ...], several("A language of the sources, for the card")] = (),
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Learn from past evaluations, and write a model with its card.

    ```
    sparingly distil train wmt22.jsonl wmt23.jsonl -u metric_var:metric=COMET -o model.skops
    sparingly distil train past.jsonl -u diversity -u hard=aspect:overall --learner boosting -o model.skops
    sparingly distil train past.jsonl -u metric_var --learner encoder --base xlm-roberta-base -o model.encoder
    ```
    """
    from sparingly.choose.distil.model import check_extra
    from sparingly.choose.distil.train import distil as learn
    from sparingly.show.terminal.pool import show_model

    if learning.learner != "encoder":
        check_extra()
    sets: dict[str, EvalSet] = {}
    for argument in data:
        name, sign, path = argument.partition("=")
        if not (sign and name and path) or Path(argument).exists():
            name, path = Path(argument).name.partition(".")[0] or argument, argument
        if name in sets:
            raise UsageError(f'Two data sets are called "{name}": write NAME=FILE to distinguish them.')
        sets[name] = reading.load(Path(path))
    with working("learning"):
        training = encoding.training()
        families = {}
        for pair in family:
            name, _, value = pair.rpartition("=")
            if not (name and value):
                raise UsageError(f'"{pair}" is not of the form MODEL=FAMILY.')
            families[name] = value
        model = learn(
            sets, utility, encoder=training, families=families, languages=language, **vars(learning)
        )
    model.save(out)
    if json:
        emit({**model.card.to_dict(), "digest": model.digest, "written": str(out)})
    else:
        show_model(model, out)


@distil.command
def apply(
    model: ModelFile,
    sources: Annotated[Path, about("An evaluation set, or a .txt file with a source on every line.")],
    /,
    *,
    out: Annotated[Path, about("An evaluation set (.jsonl, .parquet), or .csv, .tsv.", "--out", "-o")],
    utility: Annotated[
        tuple[str, ...], repeatable("A utility of the model; default: all.", "--utility", "-u")
    ] = (),
    kind: Annotated[
        Literal["column", "metric"], about("Columns, or metrics that are the same for all models.", "--as")
    ] = "column",
    embedding: Annotated[
        str | None, about("Vectors of these sources, where the model learned from given vectors.")
    ] = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Predict how informative judging each source would be.

    ```
    sparingly distil apply model.skops new.jsonl -o scored.jsonl
    sparingly distil apply model.skops sources.txt -o scored.csv
    sparingly select new.jsonl -m distilled:model=model.skops -b 100
    ```
    """
    from sparingly.choose.distil.model import SUFFIX, UNLIKE, apply_distilled, load_distilled
    from sparingly.data import files, io
    from sparingly.data.evalset import EvalSet
    from sparingly.data.io.format import line_id, read_lines
    from sparingly.show.terminal.pool import show_applied

    distilled = load_distilled(model)
    if files.extension(sources) != ".txt" or sources.is_dir() or reading.format is not None:
        evalset = reading.load(sources)
    else:
        lines = read_lines(sources)
        ids = [line_id(place) for place in range(len(lines))]
        evalset = EvalSet.from_arrays(ids, [], sources=[line if line.strip() else None for line in lines])
    with working("scoring"):
        applied = apply_distilled(distilled, evalset, utility, kind, embedding)
    columns = [f"{name}{SUFFIX}" for name in applied.names]
    if out.suffix.lower() in (".csv", ".tsv"):
        names = ["item", "source", *columns, UNLIKE]
        rows: list[dict[str, Any]] = []
        texts = applied.data.sources
        for place in applied.data.file_order.tolist():
            numbers = applied.scored.values[place].tolist()
            values = [None if number != number else number for number in numbers]
            why = ", ".join(applied.scored.unlike[place]) or None
            source = None if texts is None else texts[place]
            row = [applied.data.items[place], source, *values, why]
            rows.append(dict(zip(names, row, strict=True)))
        write_rows(rows, names, out)
    else:
        io.save(applied.data, out)
    if json:
        flagged = sum(map(bool, applied.scored.unlike))
        summary = {"model": str(model), "digest": distilled.digest, "items": len(evalset), "unlike": flagged}
        emit({**summary, "columns": columns, "notes": applied.notes, "written": str(out)})
    else:
        show_applied(applied, columns, out)


@distil.command
def info(model: ModelFile, /, *, json: Json = False) -> None:
    """Show a model's card: training data, accuracy, limits.

    ```
    sparingly distil info model.skops
    ```
    """
    from sparingly.choose.distil.model import load_distilled
    from sparingly.show.terminal.pool import show_model

    distilled = load_distilled(model)
    emit({**distilled.card.to_dict(), "digest": distilled.digest}) if json else show_model(distilled)
