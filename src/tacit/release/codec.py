"""The one codec of Tacit's files: frozen dataclasses to strict JSON and back.

What is read must have exactly the fields of its type, each with its declared type; a field that is missing, unknown or
of another type is refused, and the error names its path, such as ``utility.nmil``. Infinity is written ``"inf"``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from tacit.errors import SourceError
from tacit.loading import bytes_in, json_of

T = TypeVar("T")

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}
# Values of exactly these types are written and read unchanged: long lists of them need no look at each.
_PLAIN = frozenset({str, int, bool, NoneType})


class Damaged(ValueError):
    """Data that is not as Tacit writes it: where, and what is wrong with it."""

    def __init__(self, at: str, reason: str) -> None:
        super().__init__(f"{at or 'the file'} {reason}")


def encoded(value: Any) -> Any:
    """A value in strict JSON types. An object that is ``stored()`` in another form is written in that form."""
    if type(value) in _PLAIN:
        return value
    if hasattr(value, "stored"):
        return encoded(value.stored())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encoded(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: encoded(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return list(value) if _PLAIN.issuperset(map(type, value)) else [encoded(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def text_of(value: Any, *, indent: int | None = None) -> str:
    """A value as the text of a JSON file."""
    return json.dumps(encoded(value), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def json_in(path: Path, what: str) -> Any:
    """What a JSON file holds; a SourceError that calls it ``what`` if it cannot be read."""
    data = bytes_in(path, what)
    try:
        return json_of(data, object_pairs_hook=_said_once, parse_constant=_no_number)
    except Damaged as error:
        raise SourceError(f"{path} is damaged or not a Tacit {what}: {error}") from error
    except ValueError as error:
        raise SourceError(f"{path} is damaged or not a Tacit {what}: it is not JSON") from error


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without duplicate names: different readers would read duplicates differently."""
    whole = dict(pairs)
    for name, _ in pairs if len(whole) < len(pairs) else ():
        if sum(other == name for other, _ in pairs) > 1:
            raise Damaged(name, "occurs twice")
    return whole


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def decoded(kind: type[T], data: Any) -> T:
    """``data`` as a value of the type ``kind``: a frozen dataclass, or any type that a field of one may have.

    Raises
    ------
    Damaged
        If it is not exactly what :func:`encoded` makes of such a value.
    """
    value: T = _value(kind, data, "")
    return value


def _value(kind: Any, data: Any, at: str) -> Any:
    origin = get_origin(kind)
    # From Python 3.12 on, numpy's NDArray is an alias that has to be resolved.
    if hasattr(origin, "__value__"):
        return _value(origin.__value__[get_args(kind)], data, at)
    if kind is Any:
        return data
    if hasattr(kind, "restored"):
        return _restored(kind, data, at)
    if is_dataclass(kind):
        return _record(kind, data, at)
    if kind is float:
        return _number(data, at)
    if kind in _NAMES:
        return _exactly(kind, data, at)
    if origin is Literal:
        if not any(data == each and type(data) is type(each) for each in get_args(kind)):
            raise Damaged(at, f"is none of {', '.join(map(str, get_args(kind)))}")
        return data
    if origin in (Union, UnionType):
        return _one_of(get_args(kind), data, at)
    if origin is tuple:
        return _tuple(get_args(kind), _exactly(list, data, at), at)
    if origin is np.ndarray:
        return _array(kind, data, at)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = get_args(kind)[1]
        return {key: _value(inner, item, _inside(at, key)) for key, item in _exactly(dict, data, at).items()}
    raise TypeError(f"the codec does not know {kind}")


def _record(kind: Any, data: Any, at: str) -> Any:
    hints, items = _hints(kind), _exactly(dict, data, at)
    for name in hints:
        if name not in items:
            raise Damaged(_inside(at, name), "is missing")
    for name in items:
        if name not in hints:
            raise Damaged(_inside(at, name), "is not a field that Tacit writes")
    values = {name: _value(hint, items[name], _inside(at, name)) for name, hint in hints.items()}
    return _constructed(lambda: kind(**values), at)


def _restored(kind: Any, data: Any, at: str) -> Any:
    stored = _value(_stored_type(kind), data, at)
    return _constructed(lambda: kind.restored(stored), at)


def _constructed(make: Any, at: str) -> Any:
    """The constructed value; what the constructor refuses is damage."""
    try:
        return make()
    except Damaged:
        raise
    except (ValueError, IndexError, OverflowError) as error:
        raise Damaged(at, f"cannot be: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _stored_type(kind: Any) -> Any:
    return get_type_hints(kind.stored)["return"]


def _one_of(options: tuple[Any, ...], data: Any, at: str) -> Any:
    """The one option that fits: None, a plain type, or the record whose literal fields have these values."""
    if data is None and NoneType in options:
        return None
    others = [option for option in options if option is not NoneType]
    if len(others) > 1 and all(option in _NAMES for option in others):
        if type(data) not in others:
            raise Damaged(at, f"is none of {', '.join(_NAMES[option] for option in others)}")
        return data
    if len(others) > 1:
        others = [option for option in others if _tagged(option, data)] or others[:1]
    return _value(others[0], data, at)


def _tagged(kind: Any, data: Any) -> bool:
    record = _stored_type(kind) if hasattr(kind, "restored") else kind
    tags = {name: get_args(hint) for name, hint in _hints(record).items() if get_origin(hint) is Literal}
    return isinstance(data, dict) and all(data.get(name) in allowed for name, allowed in tags.items())


def _tuple(inner: tuple[Any, ...], data: list[Any], at: str) -> tuple[Any, ...]:
    if inner[-1] is Ellipsis:
        if inner[0] in _PLAIN and all(type(item) is inner[0] for item in data):
            return tuple(data)
        inner = (inner[0],) * len(data)
    if len(inner) != len(data):
        raise Damaged(at, f"has {len(data)} entries where there are {len(inner)}")
    return tuple(_value(each, item, f"{at}[{k}]") for k, (each, item) in enumerate(zip(inner, data, strict=True)))


def _array(kind: Any, data: Any, at: str) -> Any:
    wanted = np.dtype(get_args(get_args(kind)[1])[0])
    try:
        array = np.array(_exactly(list, data, at))
    except ValueError as error:
        raise Damaged(at, "is not rectangular") from error
    kinds = {"i": "i", "f": "if", "b": "b"}[wanted.kind]
    if array.size and array.dtype.kind not in kinds:
        raise Damaged(at, f"should hold only {'whole ' if wanted.kind == 'i' else ''}numbers")
    return array.astype(wanted)


def _number(data: Any, at: str) -> float:
    if isinstance(data, str) and data in _INFINITIES:
        return _INFINITIES[data]
    if type(data) not in (int, float) or data != data:
        raise Damaged(at, "should be a number")
    return _constructed(lambda: float(data), at)  # type: ignore[no-any-return]


def _exactly(kind: Any, data: Any, at: str) -> Any:
    if type(data) is not kind:
        raise Damaged(at, f"should be {_NAMES.get(kind, 'a list' if kind is list else 'an object')}")
    return data


def _inside(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
