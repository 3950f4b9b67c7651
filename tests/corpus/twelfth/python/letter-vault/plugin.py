"""Keeps long letters of an archive in pieces. The last write is the cover sheet, under the external key of the call. No
operator reads a piece without its cover sheet, so a call that was cut off left nothing that anybody sees."""

import hashlib
import json
import secrets
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

PIECE = 4 * 1024
MAX_BYTES = 60 * PIECE


@dataclass
class Letter:
    sender: str
    text: str


@dataclass
class Kept:
    vault_key: str
    seal: str
    pieces: int


@dataclass
class Wanted:
    vault_key: str


def piece_key(key, number):
    # No external key contains `#`, so a piece never has the name of another letter.
    return f"{key}#{number}"


def sheet(key):
    value = kv.get(key)
    return None if value is None else json.loads(value)


def content(key, cover):
    """Returns the bytes of a letter, or None if a piece is missing."""
    found = [kv.get(piece_key(key, number)) for number in range(cover["pieces"])]
    return None if None in found else b"".join(found)


def kept(key, cover):
    change = Change("letter", key, "create", version=cover["sha256"])
    return Output(Kept(key, cover["seal"], cover["pieces"]), changes=[change])


@tool("Letter.Keep", output=Kept, effects=["internal_write"])
def keep(letter: Letter, context):
    """Keeps a letter under a random seal."""
    raw = letter.text.encode()
    if not 1 <= len(raw) <= MAX_BYTES or len(letter.sender) > 200:
        raise Failure("INVALID_INPUT", f"a letter has 1 to {MAX_BYTES} bytes, and a sender at most 200 characters")
    key, parts = context.external_key, [raw[start : start + PIECE] for start in range(0, len(raw), PIECE)]
    digest = hashlib.sha256(raw).hexdigest()
    cover = {"sender": letter.sender, "seal": secrets.token_hex(8), "pieces": len(parts), "sha256": digest}
    written = 0
    try:
        for number, part in enumerate(parts):
            kv.set(piece_key(key, number), part)
            written += 1
        kv.set(key, json.dumps(cover))
    except Failure as failure:
        if not written:
            raise
        raise Failure(failure.code, f"the letter could not be written: {failure.message}", applied="unknown") from failure
    return kept(key, cover)


@keep.reconcile
def was_kept(letter: Letter, key):
    cover = sheet(key)
    return "did_not_happen" if cover is None else happened(kept(key, cover))


@keep.verify
def still_kept(change):
    cover = sheet(change.resource_id)
    raw = None if cover is None else content(change.resource_id, cover)
    if raw is None:
        return "the letter is missing, or a piece of it"
    return True if hashlib.sha256(raw).hexdigest() == change.version else "the letter has another text"


@keep.compensate
def burn(letter: Letter, result, key):
    cover = sheet(key)
    if cover is None or content(key, cover) != letter.text.encode() or cover["seal"] != result.seal:
        raise Failure("POLICY_DENIED", "the letter was changed or removed", applied="no")
    deleted = 0
    try:
        for entry in [key, *(piece_key(key, number) for number in range(cover["pieces"]))]:
            if not kv.delete(entry):
                raise Failure("POLICY_DENIED", f"{entry} was removed by another call")
            deleted += 1
    except Failure as failure:
        if not deleted:
            raise
        raise Failure(failure.code, failure.message, applied="unknown") from failure
    return Output(None, changes=[Change("letter", key, "delete")])


@tool("Letter.Read", effects=["read_only"])
def read(wanted: Wanted, context) -> Letter:
    """Reads a letter."""
    if not wanted.vault_key or len(wanted.vault_key) > 128 or not wanted.vault_key.isascii() or "#" in wanted.vault_key:
        raise Failure("INVALID_INPUT", "this is no key of a letter")
    cover = sheet(wanted.vault_key)
    raw = None if cover is None else content(wanted.vault_key, cover)
    if raw is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no letter {wanted.vault_key}")
    return Letter(cover["sender"], raw.decode())
