"""Canonical bytes: the one JSON spelling of a value. Same value, same bytes, same id.

A deliberate subset of RFC 8785: object keys are ASCII, numbers are integers within ±2^53, strings
hold no lone surrogate, no key stands twice. Inside the subset Python's code-point order of keys and
RFC 8785's UTF-16 order agree, and so do the two ways of writing a string, so any RFC 8785
implementation makes our bytes. Outside it we refuse instead of guessing.

`encode` is the `rfc8785` package. `decode` accepts only what re-encodes to the same bytes; it asks
the C encoder of the standard library, which writes the subset alike at a tenth of the price (a
property test holds the two together; `docs/adr/0003`).
"""

from __future__ import annotations

import json

#: Integers beyond this have several spellings in JSON readers that use doubles (RFC 8785, appendix D).
INTEGER_MAX = 2**53

# json.dumps builds an encoder on each call when given options; one instance, made once, is the same.
_C_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


class NotCanonical(ValueError):
    """The bytes or the value are outside the subset; the message says in what."""


def encode(value: object) -> bytes:
    """Return the canonical bytes of `value` (dict, list, str, int, bool, None).

    Raises NotCanonical where the value is outside the subset.
    """
    _check(value)
    import rfc8785  # here: a reader never needs it

    return rfc8785.dumps(value)  # type: ignore[arg-type]


def decode(data: bytes) -> dict[str, object]:
    """Return the object that `data` is the canonical spelling of.

    Raises NotCanonical for anything else: other JSON, other spelling, not an object, not UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotCanonical(f"not UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"not JSON ({error})") from None
    if type(value) is not dict:
        raise NotCanonical("not a JSON object")
    # Duplicate keys, floats, NaN, spaces, escapes and key order all show as other bytes here.
    try:
        _check(value)
        again = _C_ENCODER.encode(value)
    except RecursionError:
        raise NotCanonical("nested too deep") from None
    if again != text:
        raise NotCanonical("not the canonical spelling (RFC 8785)")
    return value


def _check(value: object) -> None:
    """Refuse what the subset leaves out; walks the whole value."""
    kind = type(value)
    if kind is str:
        if not value.isascii():  # type: ignore[attr-defined]
            try:
                value.encode("utf-8")  # type: ignore[attr-defined]
            except UnicodeEncodeError:
                raise NotCanonical("a lone surrogate") from None
    elif kind is int:
        if not -INTEGER_MAX <= value <= INTEGER_MAX:  # type: ignore[operator]
            raise NotCanonical(f"an integer beyond ±2^53: {value}")
    elif kind is dict:
        for key, inner in value.items():  # type: ignore[attr-defined]
            if type(key) is not str or not key.isascii():
                raise NotCanonical(f"a key that is not ASCII: {key!r}")
            _check(inner)
    elif kind is list:
        for inner in value:  # type: ignore[attr-defined]
            _check(inner)
    elif value is not None and kind is not bool:
        raise NotCanonical(f"a {kind.__name__}: only objects, lists, strings, integers, true, false and null")
