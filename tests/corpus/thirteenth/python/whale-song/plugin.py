"""Archives transcribed whale songs. Long songs are kept in blocks; the head, written last, makes a song readable."""

import hashlib
import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

BLOCK = 400
MOST = 20_000


@dataclass
class Song:
    singer: str
    units: list[str]


@dataclass
class Archived:
    song: str
    units: int
    blocks: int


@dataclass
class Wanted:
    song: str
    block: int = 0


def archived(key, head):
    return Output(Archived(key, head["units"], head["blocks"]), changes=[Change("song", key, "create", version=head["sha256"])])


def head_of(song):
    raw = kv.get(f"head/{song}")
    return None if raw is None else json.loads(raw)


def split(song):
    """Returns the head and the blocks of a song. Refuses what the map could not hold."""
    if not song.singer.strip() or len(song.singer) > 100:
        raise Failure("INVALID_INPUT", "the singer needs a name of at most 100 characters")
    if not 1 <= len(song.units) <= MOST or any(len(unit) > 20 for unit in song.units):
        raise Failure("INVALID_INPUT", f"a song has 1 to {MOST} units of at most 20 characters")
    blocks = [json.dumps(song.units[at : at + BLOCK], ensure_ascii=False).encode() for at in range(0, len(song.units), BLOCK)]
    digest = hashlib.sha256(b"\n".join(blocks)).hexdigest()
    return {"singer": song.singer.strip(), "units": len(song.units), "blocks": len(blocks), "sha256": digest}, blocks


@tool("Whale.Archive", output=Archived, effects=["internal_write"])
def archive(song: Song, context):
    """Archives a song."""
    head, blocks = split(song)
    key = context.external_key
    entries = [(f"block/{key}#{number}", block) for number, block in enumerate(blocks)]
    entries.append((f"head/{key}", json.dumps(head)))
    for written, (name, text) in enumerate(entries):
        try:
            kv.set(name, text)
        except Failure as failure:
            if written == 0:
                raise
            raise Failure(failure.code, failure.message, applied="unknown") from failure
    return archived(key, head)


@archive.reconcile
def find(song: Song, key):
    head = head_of(key)
    return "did_not_happen" if head is None else happened(archived(key, head))


@archive.verify
def check(change):
    head = head_of(change.resource_id)
    if head is None:
        return "the song is missing"
    return True if head["sha256"] == change.version else "the song is another one"


@archive.compensate
def remove(song: Song, result, key):
    head, blocks = split(song)
    if head_of(key) != head:
        raise Failure("POLICY_DENIED", "the song was changed or removed")
    names = [f"block/{key}#{number}" for number in range(len(blocks))]
    if any(kv.get(name) != block for name, block in zip(names, blocks)):
        raise Failure("POLICY_DENIED", "a block of the song was changed or removed")
    if not kv.delete(f"head/{key}"):
        raise Failure("POLICY_DENIED", "the song was removed")
    for name in names:
        try:
            gone = not kv.delete(name)
        except Failure as failure:
            raise Failure(failure.code, failure.message, applied="unknown") from failure
        if gone:
            raise Failure("POLICY_DENIED", f"{name} was removed by someone else", applied="unknown")
    return Output(None, changes=[Change("song", key, "delete")])


@tool("Whale.Read")
def read(wanted: Wanted, context) -> list[str]:
    """Reads one block of an archived song."""
    head = head_of(wanted.song)
    if head is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "there is no such song")
    if not 0 <= wanted.block < head["blocks"]:
        raise Failure("INVALID_INPUT", f"the song has {head['blocks']} blocks")
    raw = kv.get(f"block/{wanted.song}#{wanted.block}")
    if raw is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "the song was just removed")
    return json.loads(raw)
