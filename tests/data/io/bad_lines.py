"""Bad lines of our own JSON Lines and of collections, each with the sentence that it gets."""

from __future__ import annotations

import json
from typing import Any

HEADER = '{"format": "sparingly/evalset", "version": 1}'


def lines(*records: dict[str, Any] | str) -> str:
    return "".join(f"{held if isinstance(held, str) else json.dumps(held)}\n" for held in records)


ITEM = {"item": "a", "outputs": {"m": "x"}}
JSON_LINES: dict[str, tuple[str, str]] = {
    "numbers as strings": (
        lines(ITEM, {"item": "b", "metrics": {"m": {"chrF": "0.5"}}}),
        ', line 2, field metrics.m.chrF: "0.5" is text, not a number. '
        "Write the number without quotes, or null where it is missing.",
    ),
    "true for a number": (
        lines(
            {"item": "a", "metrics": {"m": {"chrF": 0.5}}}, {"item": "b", "metrics": {"m": {"chrF": True}}}
        ),
        ", line 2, field metrics.m.chrF: true is not a number. "
        "Write the number without quotes, or null where it is missing.",
    ),
    "Infinity": (
        lines('{"item": "a", "metrics": {"m": {"chrF": -Infinity}}}'),
        ", line 1, field metrics.m.chrF: -Infinity is not a finite number. "
        "Write a finite number, or null where it is missing.",
    ),
    "a number beyond all numbers": (
        lines(ITEM, '{"item": "b", "aspects": {"m": {"mqm": 1e999}}}'),
        ", line 2, field aspects.m.mqm: Infinity is not a finite number. "
        "Write a finite number, or null where it is missing.",
    ),
    "a whole number beyond all floats": (
        lines({"item": "b", "metrics": {"m": {"chrF": 10**400}}}),
        f", line 1, field metrics.m.chrF: 1{'0' * 39}… is too large a number. "
        "Write a finite number, or null where it is missing.",
    ),
    "a number of thousands of digits": (
        lines(ITEM, f'{{"item": {"9" * 5000}}}'),
        ", line 2: a whole number has too many digits. Write it as text.",
    ),
    "Infinity in a column": (
        lines('{"item": "a", "outputs": {}, "depth": [1, {"x": Infinity}]}'),
        ", line 1, field depth: Infinity is not a finite number. "
        "Write a finite number, or null where it is missing.",
    ),
    "a place that is not a number": (
        lines(ITEM, {"item": "b", "position": "third"}),
        ', line 2, field position: "third" is text, not a number. '
        "Write the number without quotes, or null where it is missing.",
    ),
    "a cost below zero": (
        lines(ITEM, {"item": "b", "cost": -3}),
        ", line 2, field cost: -3.0 is below zero. Write zero or more.",
    ),
    "duplicate ids": (
        lines(HEADER, ITEM, {"item": "b"}, ITEM),
        ', line 4, field item: the item "a" was there before (line 2). Give every item its own id.',
    ),
    "1 and a text 1 as ids": (
        lines({"item": 1, "outputs": {}}, {"item": "1"}),
        ', line 2, field item: the item 1 is written as a number and as the text "1". Write ids in one way.',
    ),
    "1 and a text 1 as raters": (
        lines({**ITEM, "ratings": [{"model": "m", "rater": 1}, {"model": "m", "rater": "1"}]}),
        ', line 1, field ratings[1].rater: the rater 1 is written as a number and as the text "1". '
        "Write ids in one way.",
    ),
    "an item without an id": (
        lines(ITEM, {"outputs": {"m": "x"}}),
        ', line 2, field item: the item has no id. Add "item": "…" to the line.',
    ),
    "an empty id": (
        lines(ITEM, {"item": " "}),
        ", line 2, field item: the id is empty. Give every item and model an id.",
    ),
    "an empty name of a model": (
        lines({"item": "a", "outputs": {"": "x"}}),
        ", line 1, field outputs: the id is empty. Give every item and model an id.",
    ),
    "an empty name of a metric": (
        lines({"item": "a", "metrics": {"m": {"": 1}}}),
        ', line 1, field metrics.m.: "" is not a name of a metric. Give it a name.',
    ),
    "a list for an id": (
        lines({"item": ["a"], "outputs": {}}),
        ", line 1, field item: ['a'] is not an id. An id is text or a whole number.",
    ),
    "text where an object is wanted": (
        lines(ITEM, {"item": "b", "outputs": "an output"}),
        ', line 2, field outputs: expected an object {…}, not "an output".',
    ),
    "a number where an object is wanted": (
        lines({"item": "b", "metrics": {"m": 0.5}}),
        ", line 1, field metrics.m: expected an object {…}, not 0.5.",
    ),
    "an object where a list is wanted": (
        lines({**ITEM, "ratings": {"model": "m"}}),
        ", line 1, field ratings: expected a list […], not {'model': 'm'}.",
    ),
    "a number where text is wanted": (
        lines({"item": "a", "outputs": {"m": 5}}),
        ", line 1, field outputs.m: 5 is not text. Put it in quotes.",
    ),
    "a rating without a model": (
        lines({**ITEM, "ratings": [{"model": "m", "score": 1}, {"rater": "r", "score": 1}]}),
        ', line 1, field ratings[1]: the rating names no model. Add "model": "…" to the rating.',
    ),
    "a rating of two things": (
        lines({**ITEM, "ratings": [{"model": "m", "reference": "r", "score": 1}]}),
        ", line 1, field ratings[0]: the rating names a model and a reference. Keep one of them.",
    ),
    "a rating of an aspect that is not text": (
        lines({**ITEM, "ratings": [{"model": "m", "aspect": 5, "score": 1}]}),
        ", line 1, field ratings[0].aspect: 5 is not text. Put it in quotes.",
    ),
    "an endless time": (
        lines('{"item": "a", "ratings": [{"model": "m", "score": 1, "seconds": Infinity}]}'),
        ", line 1, field ratings[0].seconds: Infinity is not a finite number. "
        "Write a finite number, or null where it is missing.",
    ),
    "a preference without a winner": (
        lines({**ITEM, "preferences": [{"first": "m", "second": "n"}]}),
        ', line 1, field preferences[0]: the preference has no "value". Add "value" to the preference.',
    ),
    "a preference beyond the scale": (
        lines({**ITEM, "preferences": [{"first": "m", "second": "n", "value": 2}]}),
        ", line 1, field preferences[0].value: 2 is not between -1 and 1. "
        "Write 1 where the first is better, -1 where the second is, 0 for a tie.",
    ),
    "a preference that is NaN": (
        lines('{"item": "a", "preferences": [{"first": "m", "second": "n", "value": NaN}]}'),
        ", line 1, field preferences[0].value: nan is not between -1 and 1. "
        "Write 1 where the first is better, -1 where the second is, 0 for a tie.",
    ),
    "a model compared with itself": (
        lines({**ITEM, "preferences": [{"first": "m", "second": "m", "value": 1}]}),
        ', line 1, field preferences[0]: the model "m" is compared with itself.',
    ),
    "a cut-off last line": (
        lines(ITEM) + '{"item": "b", "outputs": {"m": "half a',
        ', line 2: this is not JSON (Unterminated string starting at column 32, near …s": {"m": "half a). '
        "Is the file cut off?",
    ),
    "something else than JSON": (
        lines(ITEM, "item: b"),
        ", line 2: this is not JSON (Expecting value at column 1, near item: b). Write one JSON value.",
    ),
    "two values in a line": (
        lines(f"{json.dumps(ITEM)}", f"{json.dumps({'item': 'b'})} {json.dumps({'item': 'c'})}"),
        ', line 2: this is not JSON (Extra data at column 15, near …em": "b"} {"item": "c"}). '
        "Write one JSON value.",
    ),
    "nested without end": (
        lines(ITEM, f'{{"item": "b", "deep": {"[" * 100_000}'),
        ", line 2: the JSON is nested too deeply.",
    ),
    "nested too deep for a column": (
        lines(ITEM, f'{{"item": "b", "deep": {"[" * 200}{"]" * 200}}}'),
        ", line 2, field deep: the value is nested more than 100 levels deep.",
    ),
    "duplicate keys": (
        lines(ITEM, '{"item": "b", "outputs": {"m": "x", "m": "y"}}'),
        ', line 2, field m: the key "m" is there twice. Keep one of them.',
    ),
    "a newer version": (
        lines('{"format": "sparingly/evalset", "version": 2}', ITEM),
        ", line 1, field version: version 2 is newer than the version 1 that this sparingly reads. "
        "Update sparingly.",
    ),
    "a version that is none": (
        lines('{"format": "sparingly/evalset", "version": "one"}', ITEM),
        ', line 1, field version: "one" is not a version.',
    ),
    "another header in the middle": (
        lines(HEADER, ITEM, '{"format": "sparingly/selection", "version": 1}'),
        ', line 3, field format: this is a "sparingly/selection" file, not sparingly/evalset.',
    ),
    "a list in a line": (
        lines(ITEM, "[1, 2]"),
        ", line 2: expected a JSON object, not [1, 2]. Write one item per line, each as {…}.",
    ),
    "only a header": (lines(HEADER), ": there is no item in it."),
    "a value with line breaks": (
        lines({"item": "a", "metrics": {"m": {"two\nlines": "x\ny\u2028z"}}}),
        ', line 1, field metrics.m.two\\nlines: "x\\ny\\u2028z" is text, not a number. '
        "Write the number without quotes, or null where it is missing.",
    ),
    "a very long value": (
        lines({"item": "a", "metrics": {"m": {"x": "long " * 1000}}}),
        f', line 1, field metrics.m.x: "{("long " * 1000)[:40]}…" is text, not a number. '
        "Write the number without quotes, or null where it is missing.",
    ),
}


COLLECTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "numbers as strings": (
        {"item": "a", "scores": {"m": {"chrF": "high"}}},
        ', line 1, field scores.m.chrF: "high" is text, not a number. '
        "Write the number without quotes, or null where it is missing.",
    ),
    "an unknown winner": (
        {"item": "a", "human": {}, "comparisons": [{"left": "m", "right": "n", "winner": "both"}]},
        ', line 1, field comparisons[0].winner: "both" is not a winner. Write one of left, right, tie.',
    ),
    "a list for a winner": (
        {"item": "a", "human": {}, "comparisons": [{"left": "m", "right": "n", "winner": ["left"]}]},
        ", line 1, field comparisons[0].winner: ['left'] is not a winner. Write one of left, right, tie.",
    ),
    "a comparison of one model": (
        {"item": "a", "human": {}, "comparisons": [{"left": "m", "winner": "left"}]},
        ", line 1, field comparisons[0]: the preference does not name two models.",
    ),
    "a rating without a model": (
        {"item": "a", "human": {}, "ratings": [{"rater": "r", "aspect": "mqm", "score": 1}]},
        ', line 1, field ratings[0]: the rating names no model. Add "model": "…" to the rating.',
    ),
    "a comment that is not text": (
        {"item": "a", "human": {}, "comments": [{"model": "m", "comment": 5}]},
        ", line 1, field comments[0].comment: 5 is not text. Put it in quotes.",
    ),
    "text where an object is wanted": (
        {"item": "a", "human": {"m": "good"}},
        ', line 1, field human.m: expected an object {…}, not "good".',
    ),
    "a reference's score of no aspect": (
        {"item": "a", "human": {"m": {"x": 1, "y": 2}}, "human_reference": {"z": 3}},
        ', line 1, field human_reference.z: "z" is no aspect of the item. Write one of x, y.',
    ),
}
