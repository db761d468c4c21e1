"""Drafts: what a person, an agent, a hook or an importer hands in, before it is an event.

A draft has no id, clock, nonce or `after`; `rules.decide` gives it those, or refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator


class Draft:
    """The content of one event to be, and what its writer asked for with it.

    kind      an event kind of `vocabulary.KINDS`
    fields    the fields of that kind (and `scope`, `source`), by their names in the format; no common ones
    reopens   append the supersede of what stands closed together with the change (a person's `--reopens`)
    whole     a reject without an approach is meant to close the entity as a whole (`--whole`)
    redact_secrets  store a marker in the place of what looks like a secret (`--redact-secrets`)
    allow_secret    store it as it is (a person's `--allow-secret`)
    sign            sign the events that become of it (`--sign`)
    """

    __slots__ = ("allow_secret", "fields", "kind", "redact_secrets", "reopens", "sign", "whole")

    def __init__(
        self,
        kind: str,
        fields: dict[str, object],
        *,
        reopens: bool = False,
        whole: bool = False,
        redact_secrets: bool = False,
        allow_secret: bool = False,
        sign: bool = False,
    ) -> None:
        self.kind = kind
        self.fields = fields
        self.reopens = reopens
        self.whole = whole
        self.redact_secrets = redact_secrets
        self.allow_secret = allow_secret
        self.sign = sign

    def with_fields(self, fields: dict[str, object]) -> Draft:
        """Return the draft of other `fields` for which its writer asked the same."""
        return Draft(
            self.kind,
            fields,
            reopens=self.reopens,
            whole=self.whole,
            redact_secrets=self.redact_secrets,
            allow_secret=self.allow_secret,
            sign=self.sign,
        )


class Writer:
    """Who writes, as the process saw it.

    author    `Name <address>`, git's author identity now
    channel   of `vocabulary.CHANNELS`
    """

    __slots__ = ("agent", "author", "channel", "policy", "session_id", "tool")

    def __init__(
        self, author: str, channel: str, *, tool: str, agent: str = "", session_id: str = "", policy: str = ""
    ) -> None:
        self.author = author
        self.channel = channel
        self.tool = tool
        self.agent = agent
        self.session_id = session_id
        self.policy = policy

    @property
    def is_person(self) -> bool:
        return self.channel == "human"


class Stamp:
    """When, in the log's own terms: the highest clock so far, the time now (format time), fresh nonces."""

    __slots__ = ("clock", "nonces", "now")

    def __init__(self, clock: int, now: str, nonces: Iterator[str]) -> None:
        self.clock = clock
        self.now = now
        self.nonces = nonces
