"""The words of made-up texts, by domain, and the invented language that their sources are written in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sparingly.base import rng

DETERMINERS = ("the", "a", "this", "every", "another", "one")
PREPOSITIONS = ("in", "near", "under", "behind", "beside", "after", "before", "without", "beyond", "around")
CONJUNCTIONS = ("and", "but", "while", "because", "although", "so", "until", "unless")
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "sh", "tr", "kl", "br")
_RHYMES = ("a", "e", "i", "o", "u", "an", "el", "or", "is", "um", "ai", "ek", "ot", "ul", "en", "ar")


@dataclass(frozen=True)
class Vocabulary:
    """The content words of a domain."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    adverbs: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Every content word."""
        return (*self.nouns, *self.verbs, *self.adjectives, *self.adverbs)


def _vocabulary(nouns: str, verbs: str, adjectives: str, adverbs: str) -> Vocabulary:
    return Vocabulary(
        tuple(nouns.split()), tuple(verbs.split()), tuple(adjectives.split()), tuple(adverbs.split())
    )


VOCABULARIES = {
    "news": _vocabulary(
        "minister budget council harbour election railway court factory hospital strike treaty region mayor "
        "company parliament bridge committee market journalist tunnel reservoir embassy union airport tariff "
        "spokesman investigation province pipeline subsidy",
        "approved delayed announced rejected opened visited criticised funded closed inspected defended "
        "postponed signed questioned repaired expanded blamed sold supported cancelled",
        "regional unexpected annual public foreign expensive temporary official disputed northern former "
        "independent provisional crowded narrow",
        "yesterday formally quietly again repeatedly abroad narrowly officially eventually recently",
    ),
    "social": _vocabulary(
        "photo playlist kitten neighbour pizza weekend battery gym birthday concert sofa trailer haircut "
        "meme recipe tattoo podcast sneakers roommate festival selfie garden laptop bus bakery couch puppy "
        "ticket blanket cousin",
        "loved hated missed shared tried found lost recommended borrowed finished skipped posted watched "
        "deleted ordered cooked broke bought adopted forgot",
        "awesome tiny weird cute boring spicy lazy broken free cosy messy perfect loud random sleepy",
        "honestly literally today finally totally again somehow tonight secretly almost",
    ),
    "speech": _vocabulary(
        "question idea teacher audience story mistake lesson project laboratory child machine village moment "
        "answer problem experiment friend journey decision promise language memory student discovery doctor "
        "voice habit argument choice world",
        "changed explained imagined built understood followed taught remembered described doubted shaped "
        "measured told carried invented noticed answered chose believed shared",
        "simple curious honest remarkable ordinary brave patient difficult invisible young hopeful clumsy "
        "surprising careful common",
        "slowly really always together perhaps suddenly carefully clearly often gladly",
    ),
    "literary": _vocabulary(
        "lantern river castle widow orchard shadow captain winter letter forest stranger candle meadow raven "
        "window mountain sailor mirror garment thunder staircase shepherd cathedral horseman silence harvest "
        "cloak threshold moonlight fountain",
        "followed remembered feared crossed abandoned deserted guarded discovered mourned carried "
        "watched lifted sheltered betrayed forgave awaited embraced buried summoned kindled",
        "ancient silver weary crooked distant solemn velvet forgotten restless pale golden hollow gentle "
        "nameless frozen",
        "silently forever once tenderly alone wearily softly beneath slowly faintly",
    ),
}


def vocabulary_of(domain: str | None) -> Vocabulary:
    """Return the words of a domain; a domain of the user's own borrows the words of a known one."""
    if domain in VOCABULARIES:
        return VOCABULARIES[domain]
    known = sorted(VOCABULARIES)
    return VOCABULARIES[known[int(rng.keys_of([domain or ""])[0] % len(known))]]


@cache
def foreign(word: str) -> str:
    """Return the word's translation into the invented language: always the same, a few syllables."""
    key = int(rng.keys_of([word.lower()])[0])
    syllables = 1 + min(3, len(word) // 4)
    invented = ""
    for _ in range(syllables):
        invented += _ONSETS[key % len(_ONSETS)] + _RHYMES[key // 32 % len(_RHYMES)]
        key //= 1024
    return invented
