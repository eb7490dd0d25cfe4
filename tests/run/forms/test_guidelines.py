from __future__ import annotations

import pytest

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.run.forms.guidelines import Guidelines

TEXT = """Read this first.

# How good is it?

Look at *everything*.

```
## not a heading
```

## Good example
All of it is there.

## Scale
- 0: useless
* 33,5 = poor

## Scale: fluency
- 100: perfect

## Consent
I agree.

## About you
- Native language
"""


def test_headings_say_what_a_part_is_for() -> None:
    guidelines = Guidelines.parse(TEXT)
    assert guidelines.title == "How good is it?"
    assert [(part.heading, part.tone) for part in guidelines.sections] == [
        ("", ""), ("", ""), ("Good example", "good"),
    ]  # fmt: skip
    assert "## not a heading" in guidelines.sections[1].markdown
    assert guidelines.words("overall") == {0.0: "useless", 33.5: "poor"}
    assert guidelines.words("fluency") == {100.0: "perfect"}
    assert (guidelines.consent, guidelines.details) == ("I agree.", ("Native language",))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" \n", "are empty"),
        ("x" * 100_001, "more than 100,000 letters"),
        ("# Q\n\n## Scale\n- 0: bad\n- good\n", "line 5: .*gives no words for a score"),
        ("# Q\n## Categories\n- A\n  - B\n    - A\n", 'line 5: the category "A" is there twice'),
        ("# Q\n## Categories\nAccuracy\n", 'line 3: "Accuracy" is no category'),
        ("# Q\n## About you\n- Age\n- Age\n", "each once"),
        ("# Q\n## Consent\nOne.\n## Consent\nTwo.\n", 'line 4: the section "Consent" is there twice'),
    ],
)
def test_what_cannot_be_read_is_named(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Guidelines.parse(text)


def test_words_are_for_scores_of_the_scale() -> None:
    guidelines = Guidelines.parse(TEXT)
    guidelines.check({"overall": (0.0, 100.0), "fluency": None})
    with pytest.raises(UnknownNameError, match="fluency"):
        guidelines.check({"overall": (0.0, 100.0)})
    with pytest.raises(InputError, match=r"scale of overall goes from 1 to 5, and has no 0"):
        guidelines.check({"overall": (1.0, 5.0), "fluency": None})


def test_categories_are_a_nested_list() -> None:
    text = "# Q\n\n## Categories\n- Accuracy\n  - Omission\n  - Mistranslation\n    - Number\n- Style\n"
    assert Guidelines.parse(text).categories == (
        "Accuracy / Omission", "Accuracy / Mistranslation / Number", "Style",
    )  # fmt: skip
