"""What is known about every letter: its kind, its script, its small form; looked up for whole arrays."""

from __future__ import annotations

import unicodedata
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]

OTHER, SPACE, DIGIT, SIGN, CAPITAL, LETTER = range(6)
_COUNT = 0x110000
_UNKNOWN = 255
# Written without spaces between words: every letter stands for a word.
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
_SENTENCE_ENDS = frozenset(".!?:;…。！？：；।॥؟۔")
NO_SCRIPT = "none"


class _Table:
    """The letters met so far; a letter is looked up in Unicode's tables once."""

    def __init__(self) -> None:
        self.kind = np.full(_COUNT, _UNKNOWN, np.uint8)
        self.script = np.zeros(_COUNT, np.uint8)
        self.small = np.arange(_COUNT, dtype=np.uint32)
        self.alone = np.zeros(_COUNT, bool)
        self.joins = np.zeros(_COUNT, bool)
        self.ends = np.zeros(_COUNT, bool)
        self.scripts = [NO_SCRIPT]
        self._lock = Lock()

    def know(self, codes: Codes) -> None:
        """Look up the letters that are new."""
        new = codes[self.kind[codes] == _UNKNOWN]
        if new.size:
            with self._lock:
                for code in np.unique(new).tolist():
                    self._add(code)

    def _add(self, code: int) -> None:
        letter = chr(code)
        category = unicodedata.category(letter)
        self.ends[code] = letter in _SENTENCE_ENDS
        # A mark belongs to the letter before it.
        self.joins[code] = category[0] == "M"
        if category[0] == "L":
            name = unicodedata.name(letter, "OTHER").split()[0].partition("-")[0]
            if name not in self.scripts and len(self.scripts) < _UNKNOWN:
                self.scripts.append(name)
            self.script[code] = self.scripts.index(name) if name in self.scripts else 0
            self.alone[code] = name in _UNSPACED
            # The small form of a few letters is two letters: the first stands for both.
            self.small[code] = ord(letter.lower()[0])
        # Last, so that another thread sees a letter as known only when all of it is.
        self.kind[code] = _kind(letter, category)


def _kind(letter: str, category: str) -> int:
    if letter.isspace():
        return SPACE
    if category in ("Lu", "Lt"):
        return CAPITAL
    return {"L": LETTER, "M": LETTER, "N": DIGIT, "P": SIGN, "S": SIGN}.get(category[0], OTHER)


_TABLE = _Table()


def known(codes: Codes) -> _Table:
    """Return the table, with these letters in it."""
    _TABLE.know(codes)
    return _TABLE
