"""Signatures: what an armoured SSH signature says about itself (SSHSIG, F28), and what can be wrong with one. Pure.

Reading it proves nothing: whose key it is, and whether it fits the event, `store.signing` asks `ssh-keygen`.
"""

from __future__ import annotations

from gitmem.core.objects import SIGNATURE_MAX

NAMESPACE = "gitmem"

#: What a signature is found to be. All but `GOOD` and `UNCHECKED` are findings of `verify`.
GOOD, UNCHECKED = "good", "unchecked"
BAD, UNKNOWN, OTHER, UNTIMELY, REVOKED = "bad", "unknown-key", "other-principal", "not-valid-then", "revoked"
STATES = (GOOD, UNCHECKED, BAD, UNKNOWN, OTHER, UNTIMELY, REVOKED)

_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"


class Malformed(ValueError):
    """The bytes are no signature that F28 allows."""


class Signature:
    """What a signature says about itself.

    key         the public key, as SSH writes it (base64); `fingerprint` is what people compare
    key_type    ssh-ed25519, ecdsa-sha2-nistp256, sk-ssh-ed25519@openssh.com, …
    """

    __slots__ = ("data", "fingerprint", "key", "key_type")

    def __init__(self, data: bytes, key: str, key_type: str, fingerprint: str) -> None:
        self.data = data
        self.key = key
        self.key_type = key_type
        self.fingerprint = fingerprint


def parse(data: bytes) -> Signature:
    """Return what the file `<event id>.sig` says. Raises Malformed."""
    import binascii
    import hashlib
    from base64 import b64decode, b64encode

    if len(data) > SIGNATURE_MAX:
        raise Malformed(f"it is longer than {SIGNATURE_MAX:,} bytes")
    body = data.strip()
    if not body.startswith(_BEGIN) or not body.endswith(_END):
        raise Malformed("it is no armoured SSH signature")
    try:
        blob = b64decode(b"".join(body[len(_BEGIN) : -len(_END)].split()), validate=True)
    except binascii.Error:
        raise Malformed("its armour is damaged") from None
    if blob[:6] != _MAGIC or blob[6:10] != b"\0\0\0\1":
        raise Malformed("it is no SSH signature of version 1")
    key, at = _string(blob, 10)
    namespace, at = _string(blob, at)
    for _ in ("reserved", "hash", "signature"):
        _, at = _string(blob, at)
    if at != len(blob):
        raise Malformed("something follows it")
    if namespace != NAMESPACE.encode():
        told = "".join(c if c.isprintable() else "?" for c in namespace[:40].decode("utf-8", "replace"))
        raise Malformed(f"it was made for “{told}”, not for {NAMESPACE}")
    key_type, _ = _string(key, 0)
    printed = b64encode(hashlib.sha256(key).digest()).rstrip(b"=").decode()
    return Signature(data, b64encode(key).decode(), key_type.decode("ascii", "replace"), f"SHA256:{printed}")


def address(author: str) -> str:
    """Return the address of an author (F10): who has to have signed."""
    return author[author.rfind("<") + 1 : -1]


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the SSH string (four bytes of length, then itself) at `at`, and where it ends."""
    size = int.from_bytes(data[at : at + 4], "big")
    end = at + 4 + size
    if len(data) < at + 4 or end > len(data):
        raise Malformed("it is cut off")
    return data[at + 4 : end], end
