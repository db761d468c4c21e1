"""Canonical bytes: the one JSON spelling of a value. Same value, same bytes, same id (F1-F3).

A deliberate subset of RFC 8785: object keys are ASCII, numbers are integers within ±(2^53 - 1),
strings hold no lone surrogate, no key stands twice, and nothing nests deeper than 32.
Inside the subset Python's code-point order of keys and RFC 8785's UTF-16 order agree, and so do the two
ways of writing a string, so any RFC 8785 implementation makes our bytes. Outside it we refuse instead of
guessing.

Both directions ask the C encoder of the standard library, which spells the subset as RFC 8785 does: `encode`
for the bytes, `decode` to accept only what re-encodes to the same ones. The tests hold it to the `rfc8785` package,
an implementation of the standard that is not ours (`docs/adr/0007`).
"""

from __future__ import annotations

import json

#: The largest magnitude of an integer: from 2^53 on, a reader that uses doubles takes two for one (RFC 8785, D).
INTEGER_MAX = 2**53 - 1
#: F3: how many objects and lists may lie in each other, the outermost counted. A number of the format and not the
#: interpreter's recursion limit: what one machine reads, each must.
DEPTH_MAX = 32

_TOO_DEEP = f"nested deeper than {DEPTH_MAX}"
_TOO_BIG = "an integer beyond ±(2^53 - 1)"

# json.dumps builds an encoder on each call when given options; one instance, made once, is the same.
_C_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


class NotCanonical(ValueError):
    """The bytes or the value are outside the subset; the message says in what."""


def encode(value: object) -> bytes:
    """Return the canonical bytes of `value` (dict, list, str, int, bool, None).

    Raises NotCanonical where the value is outside the subset.
    """
    _check(value, DEPTH_MAX)
    return _C_ENCODER.encode(value).encode("utf-8")


def decode(data: bytes) -> dict[str, object]:
    """Return the object that `data` is the canonical spelling of.

    Raises NotCanonical for anything else: other JSON, other spelling, not an object, not UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotCanonical(f"not UTF-8 at byte {error.start}") from None
    try:
        value, end = _DECODER.raw_decode(text)
    except NotCanonical:
        raise
    except RecursionError:
        raise NotCanonical(_TOO_DEEP) from None
    except ValueError:  # its message and position are the interpreter's own and change with it
        raise NotCanonical("not JSON") from None
    if type(value) is not dict:
        raise NotCanonical("not a JSON object")
    if end != len(text):
        raise NotCanonical(f"something follows the JSON object at character {end}")
    # The walk can be spared where it would find nothing: numbers were looked at while they were read, what
    # is not ASCII has to be spelt as itself, and few brackets can't nest deep.
    if not text.isascii() or text.count("[") + text.count("{") > DEPTH_MAX:
        _check(value, DEPTH_MAX)
    # F2: duplicate keys, spaces, escapes (of surrogates too), key order and -0 all show as other bytes here.
    if _C_ENCODER.encode(value) != text:
        raise NotCanonical("not the canonical spelling (RFC 8785)")
    return value


def size(value: object) -> int:
    """Return how many canonical bytes `value` takes, where it is in the subset."""
    return len(_C_ENCODER.encode(value).encode("utf-8"))


def _check(value: object, depth: int) -> None:
    """Refuse what the subset leaves out; walks the whole value, `depth` levels down at most."""
    kind = type(value)
    if kind is str:
        if not value.isascii():  # type: ignore[attr-defined]
            try:
                value.encode("utf-8")  # type: ignore[attr-defined]
            except UnicodeEncodeError:
                raise NotCanonical("a lone surrogate") from None
    elif kind is int:
        if not -INTEGER_MAX <= value <= INTEGER_MAX:  # type: ignore[operator]
            raise NotCanonical(_TOO_BIG)
    elif kind is dict:
        if not depth:
            raise NotCanonical(_TOO_DEEP)
        for key, inner in value.items():  # type: ignore[attr-defined]
            if type(key) is not str or not key.isascii():
                raise NotCanonical(f"a key that is not ASCII: {key!r}")
            _check(inner, depth - 1)
    elif kind is list:
        if not depth:
            raise NotCanonical(_TOO_DEEP)
        for inner in value:  # type: ignore[attr-defined]
            _check(inner, depth - 1)
    elif value is not None and kind is not bool:
        raise NotCanonical(f"a {kind.__name__}: only objects, lists, strings, integers, true, false and null")


def _integer(text: str) -> int:
    # 16 digits and a sign; longer ones can't be in range, and int() of thousands of digits is slow or refused
    if len(text) <= 17 and -INTEGER_MAX <= (number := int(text)) <= INTEGER_MAX:
        return number
    raise NotCanonical(_TOO_BIG)


def _no_number(text: str) -> object:
    raise NotCanonical(f"{text[:40]}: numbers are integers, without fraction or exponent")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_no_number, parse_constant=_no_number)
