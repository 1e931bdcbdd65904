"""Damage: to bytes, to the members of an archive, and to what a JSON or YAML text says."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

import yaml

# What readers are known to stumble over.
TOKENS = (
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\r",
        b"\r\n",
        b"\n\n",
        b'"',
        b"'",
        b"\t",
    ),
    *(b"{", b"}", b"[" * 3000, b"]", b",", b";;", b"::", b"&a", b"*a", b"!!python/object:os.system", b"%", b"<<: *x"),
    *(b"-1", b"1e999", b"NaN", b"Infinity", b"99999999999999999999", b"0x1", b"null", b"true", b"\\ud800", b"\\"),
)
TEXTS = ("", " ", "\0", "\ud800", "nan", "inf", "-inf", "1e400", "../../x", "a" * 5000, "é\u202e", "\n", "%s{0}", "*")
NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, -1e308, 5e-324, 0.1, 1.0000000000000002)
CONSTANTS = (None, True, False, float("nan"), float("inf"), [], {}, [[]], {"": {}})


def damaged(data: bytes, form: str, rng: Random) -> bytes:
    """The data with one to a few things wrong with it; ``form`` says how it is made up."""
    ways: list[Callable[[bytes, Random], bytes]] = [bytes_damaged]
    if form in ("json", "yaml"):
        ways += [said_otherwise] * 3
    elif form == "lines":
        ways += [lines_otherwise]
    elif form == "zip":
        ways += [members_damaged] * 3
    try:
        return rng.choice(ways)(data, rng)
    except (RecursionError, ValueError, OverflowError):
        # Deeper, or a larger number, than can be written down.
        return bytes_damaged(data, rng)


def bytes_damaged(data: bytes, rng: Random) -> bytes:
    """Flip, set, insert, delete, repeat or splice, once or more."""
    for _ in range(_few(rng)):
        data = rng.choice(BYTE_WAYS)(data, rng)
    return data


def _few(rng: Random) -> int:
    return 1 + min(int(rng.expovariate(1.0)), 8)


def _span(data: bytes, rng: Random, most: int = 64) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(1, most if rng.random() < 0.8 else max(len(data), 1)))


def _flip(data: bytes, rng: Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _whole_number(data: bytes, rng: Random) -> bytes:
    """A number at the limit of its size in the place of some bytes, often of those that stand on a word."""
    size = rng.choice((1, 2, 4, 8))
    at = rng.randrange(max(len(data) - size, 0) + 1)
    at -= at % size if rng.random() < 0.7 else 0
    limit = 1 << (8 * size)
    number = rng.choice((0, 1, limit - 1, limit // 2, limit // 2 - 1, len(data), len(data) + 1, rng.randrange(limit)))
    return data[:at] + (number % limit).to_bytes(size, "little") + data[at + size :]


def _insert(data: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    token = rng.choice(TOKENS) if rng.random() < 0.7 else rng.randbytes(rng.randint(1, 16))
    return data[:at] + token + data[at:]


def _delete(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _splice(data: bytes, rng: Random) -> bytes:
    (start, end), (to, until) = _span(data, rng), _span(data, rng)
    return data[:to] + data[start:end] + data[until:]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


BYTE_WAYS = (_flip, _flip, _whole_number, _whole_number, _insert, _insert, _delete, _repeat, _splice, _splice, _cut)


def lines_otherwise(data: bytes, rng: Random) -> bytes:
    """Lines of JSON, one of them said otherwise; of any other text, two lines in each other's place."""
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    if lines[at][:1] == b"{":
        lines[at] = said_otherwise(lines[at], rng)
    else:
        lines[at], lines[other] = lines[other], lines[at] + rng.choice(TOKENS)
    return b"\n".join(lines)


def members_damaged(data: bytes, rng: Random) -> bytes:
    """An archive in order with a member that is not, or that is there twice, or gone, or called otherwise."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen, way = rng.choice(sorted(members)), rng.random()
    if way < 0.05:
        del members[chosen]
    elif way < 0.1:
        members[rng.choice(("../x.npy", "x", "facts.npy", "schema.json", chosen + "\0"))] = members.pop(chosen)
    elif way < 0.2:
        members[chosen] = members[rng.choice(sorted(members))]
    else:
        members[chosen] = damaged(members[chosen], "json" if chosen.endswith(".json") else "bytes", rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, held in members.items():
            archive.writestr(name, held)
    return packed.getvalue()


def said_otherwise(data: bytes, rng: Random) -> bytes:
    """A JSON or YAML text with some of its parts of another type or size, gone, doubled, deeper or exchanged."""
    holder = [json.loads(data) if data.lstrip()[:1] in b"{[" else yaml.safe_load(data)]
    for _ in range(_few(rng)):
        _part_changed(holder, rng)
    text = json.dumps(holder[0], ensure_ascii=rng.random() < 0.5, default=str)
    if rng.random() < 0.1:
        text = _said_twice(text, rng)
    return text.encode("utf-8", "surrogatepass")


def _part_changed(holder: list[Any], rng: Random) -> None:
    places = list(_places(holder))
    inside, key = rng.choice(places)
    old, way = inside[key], rng.randrange(8)
    if way == 0 and isinstance(inside, dict):
        del inside[key]
    elif way == 1 and isinstance(inside, list) and inside is not holder:
        inside.insert(key, old)
    elif way == 2:
        for _ in range(rng.choice((1, 2, 50, 400))):
            old = [old] if rng.random() < 0.5 else {"x": old}
        inside[key] = old
    elif way == 3 and isinstance(inside, dict):
        inside[rng.choice(TEXTS)] = inside.pop(key)
    elif way == 4:
        other, at = rng.choice(places)
        # A copy, so that nothing comes to hold itself.
        inside[key] = json.loads(json.dumps(other[at] if at in _keys(other) else None, default=str))
    elif way == 5 and isinstance(old, int | float) and not isinstance(old, bool):
        inside[key] = rng.choice((-old, old + 1, old * 1e6, old / 3, rng.choice(NUMBERS)))
    else:
        # A copy here too: a constant that was changed would be another one in the cases to come, or hold itself.
        inside[key] = deepcopy(rng.choice(rng.choice((TEXTS, NUMBERS, CONSTANTS))))


def _keys(part: Any) -> list[Any]:
    return list(range(len(part))) if isinstance(part, list) else list(part)


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [part]
    while waiting:
        inside = waiting.pop()
        for key in _keys(inside):
            yield inside, key
            if isinstance(inside[key], dict | list):
                waiting.append(inside[key])


def _said_twice(text: str, rng: Random) -> str:
    """A key of the text becomes that of its neighbour."""
    keys = [key for key in text.split('"') if key.isidentifier()]
    return text.replace(f'"{rng.choice(keys)}"', f'"{rng.choice(keys)}"') if keys else text
