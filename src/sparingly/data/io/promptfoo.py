"""Results of promptfoo (``promptfoo eval -o results.json``): one record a test, prompt and provider.

The variables of a test are the input, so that tests with the same variables (``--repeat``) are repeats. The
model is the provider, with the prompt in brackets where there are several. Metrics are ``pass``, ``score``,
the named metrics and every other kind of assertion; thumbs given in promptfoo's viewer are ratings of people.
A test whose provider failed has neither output nor scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import Head, Options
from sparingly.data.io.log import LOG_OPTIONS, LogFormat, LoggedOutput, LogScore, assemble, readable
from sparingly.data.roles import TableRoles
from sparingly.data.values import as_list, as_mapping

_PROVIDER_FAILED = 2
_LONGEST_LABEL = 40


@register("promptfoo")
class Promptfoo(LogFormat):
    """Results that promptfoo writes as JSON."""

    summary: ClassVar[str] = "promptfoo's results as JSON or JSON Lines"
    terms: ClassVar[dict[str, str]] = {
        "item": "vars",
        "input": "vars",
        "output": "response",
        "model": "provider",
        "epoch": "repeat",
    }
    options: ClassVar[dict[str, str]] = LOG_OPTIONS

    def recognises(self, head: Head) -> bool:
        """Look for results of prompts with their variables."""
        record = head.first_object
        if record is not None and {"promptIdx", "testIdx", "vars"} <= record.keys():
            return True
        document = head.document if b'"results"' in head.start else None
        results = document.get("results") if isinstance(document, dict) else None
        listed = results.get("results") if isinstance(results, dict) else None
        first = listed[0] if isinstance(listed, list) and listed else None
        return (
            isinstance(first, dict) and {"vars", "testCase"} & first.keys() != set() and "provider" in first
        )

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the results."""
        record, stats = Head(path).first_object, {}
        if record is not None and "promptIdx" in record:
            results = [result for _, result in files.json_lines(path)]
        else:
            document = as_mapping(as_mapping(files.read_json(path), "").get("results"), "results")
            stats = as_mapping(document.get("stats"), "stats")
            results = [
                as_mapping(result, f"results[{place}]")
                for place, result in enumerate(as_list(document.get("results"), "results"))
            ]
        count = sum(stats.get(kind) or 0 for kind in ("successes", "failures", "errors"))
        note = f"promptfoo counted {count:,} results, but wrote only {len(results):,} of them."
        return assemble(
            path,
            _outputs(results),
            options,
            TableRoles(str(path), (), (note,) if count > len(results) else ()),
        )


def _outputs(results: list[dict[str, Any]]) -> Iterator[LoggedOutput]:
    labels = list(dict.fromkeys(_label(result) for result in results))
    for place, result in enumerate(results):
        provider, response = result.get("provider"), as_mapping(result.get("response"), "response")
        name = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
        if not name:
            raise InputError("the result names no provider", field=f"results[{place}].provider")
        label = _label(result)
        prompt = label if len(label) <= _LONGEST_LABEL else f"prompt {labels.index(label) + 1}"
        failed = result.get("failureReason") == _PROVIDER_FAILED or "output" not in response
        test = as_mapping(result.get("testCase"), "testCase")
        metadata = as_mapping(result.get("metadata") or test.get("metadata"), "metadata")
        yield LoggedOutput(
            item=None,
            model=str(name) if len(labels) == 1 else f"{name} ({prompt})",
            source=readable(result.get("vars") or test.get("vars") or result.get("prompt")),
            output=None if failed else readable(response.get("output")),
            scores=[] if failed else list(_scores(result)),
            columns={
                **{name: value for name, value in metadata.items() if not name.startswith("_")},
                "description": test.get("description"),
                "error": result.get("error") if failed else None,
            },
            place=f"results[{place}]",
        )


def _label(result: dict[str, Any]) -> str:
    prompt = result.get("prompt")
    return str(
        prompt.get("label") or prompt.get("raw") or "" if isinstance(prompt, dict) else prompt or ""
    ).strip()


def _scores(result: dict[str, Any]) -> Iterator[LogScore]:
    grading = as_mapping(result.get("gradingResult"), "gradingResult")
    # Thumbs in the viewer replace the verdict of the assertions; what these said stays in their results.
    parts = [
        as_mapping(part, "componentResults")
        for part in as_list(grading.get("componentResults"), "componentResults")
    ]
    kinds = [as_mapping(part.get("assertion"), "assertion") for part in parts]
    by_assertions = [part for part, kind in zip(parts, kinds, strict=True) if kind.get("type") != "human"]
    if len(by_assertions) == len(parts):
        yield LogScore("pass", result.get("success"))
        yield LogScore("score", result.get("score"))
    elif by_assertions:
        yield LogScore("pass", all(part.get("pass") for part in by_assertions))
    named_scores = as_mapping(result.get("namedScores") or grading.get("namedScores"), "namedScores")
    yield from (LogScore(name, value) for name, value in named_scores.items())
    for part, kind in zip(parts, kinds, strict=True):
        if kind.get("type") == "human":
            yield LogScore("human rating", part.get("pass"), True, comment=grading.get("comment"))
        elif kind.get("type") and str(kind.get("metric")) not in named_scores:
            yield LogScore(str(kind["type"]), part.get("score"))
