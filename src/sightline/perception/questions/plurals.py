"""English plurals, for questions about more than one."""

from __future__ import annotations

import re

_ODD = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "mouse": "mice",
    "ox": "oxen",
    "cactus": "cacti",
    "leaf": "leaves",
    "loaf": "loaves",
    "knife": "knives",
    "wife": "wives",
    "shelf": "shelves",
    "wolf": "wolves",
    "calf": "calves",
    "half": "halves",
    "scarf": "scarves",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "mango": "mangoes",
    "hero": "heroes",
}
_SAME = {
    *("sheep", "fish", "deer", "aircraft", "spacecraft", "series", "scissors", "trousers", "jeans"),
    *("pants", "shorts", "pliers", "tongs", "glasses", "sunglasses", "goggles", "binoculars"),
    *("clothes", "luggage", "furniture", "broccoli", "people"),
}


def plural(name: str) -> str:
    """Return the plural of a noun, which may have words before it and `of` or brackets behind it.

    >>> plural("wine glass"), plural("box"), plural("piece of cake"), plural("bus (vehicle)")
    ('wine glasses', 'boxes', 'pieces of cake', 'buses (vehicle)')
    """
    head, tail = re.fullmatch(r"(.*?)((?: (?:of|in|with|on) .*| \(.*\))?)", name.strip()).groups()  # type: ignore[union-attr]
    before, space, last = head.rpartition(" ")
    return f"{before}{space}{_one(last)}{tail}"


def _one(word: str) -> str:
    low = word.lower()
    if low in _SAME:
        return word
    for odd, many in _ODD.items():
        if low == odd or (
            low.endswith(odd) and odd in ("man", "woman", "person", "child", "knife", "shelf")
        ):
            if low.endswith("human"):
                break
            return word[: len(word) - len(odd)] + many
    if re.search(r"(s|x|z|ch|sh)$", low):
        return word + "es"
    if re.search(r"[^aeiou]y$", low):
        return word[:-1] + "ies"
    return word + "s"
