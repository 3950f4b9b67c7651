"""An archive of long transcripts. A transcript is kept in pages of 40 kB, behind a cover with its title."""

import hashlib
import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

PAGE = 40_000
MAX_BYTES = 200_000


@dataclass
class Transcript:
    title: str
    text: str


@dataclass
class Number:
    transcript: str


@dataclass
class Kept:
    transcript: str
    pages: int
    sha256: str


@dataclass
class Content:
    title: str
    text: str


def cover(transcript):
    return f"cover/{transcript}"


def page(transcript, number):
    return f"page/{transcript}/{number}"


def stored(transcript):
    """Reads the cover of a transcript: title, number of pages and SHA-256."""
    raw = kv.get(cover(transcript))
    return None if raw is None else json.loads(raw)


def output(transcript, found):
    kept = Kept(transcript, found["pages"], found["sha256"])
    return Output(kept, changes=[Change("transcript", transcript, "create", version=found["sha256"])])


@tool("Archive.Keep", output=Kept, effects=["internal_write"])
def keep(given: Transcript, context):
    """Keeps a transcript. The cover comes last: readers find a transcript by its cover."""
    content = given.text.encode()
    if not given.text.strip():
        raise Failure("INVALID_INPUT", "the transcript is empty")
    if len(content) > MAX_BYTES:
        raise Failure("INVALID_INPUT", f"a transcript has at most {MAX_BYTES} bytes, not {len(content)}")
    transcript = context.external_key
    pages = [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
    for number, part in enumerate(pages, 1):
        kv.set(page(transcript, number), part)
    found = {"title": given.title[:200], "pages": len(pages), "sha256": hashlib.sha256(content).hexdigest()}
    kv.set(cover(transcript), json.dumps(found))
    return output(transcript, found)


@keep.reconcile
def find(given: Transcript, key):
    """Looks for the transcript of a call that was cut off."""
    found = stored(key)
    return "did_not_happen" if found is None else happened(output(key, found))


@keep.compensate
def discard(given: Transcript, result: Kept, key):
    """Takes a transcript out of the archive: its cover first, then its pages."""
    found = stored(key)
    if found is None or found["sha256"] != result.sha256:
        raise Failure("POLICY_DENIED", "the archive has no such transcript")
    if not kv.delete(cover(key)):
        raise Failure("POLICY_DENIED", "the transcript was taken out already")
    for number in range(1, found["pages"] + 1):
        if not kv.delete(page(key, number)):
            raise Failure("POLICY_DENIED", f"page {number} of the transcript was missing", applied="unknown")
    return Output(None, changes=[Change("transcript", key, "delete")])


@tool("Archive.Read", output=Content, effects=["read_only"])
def read(given: Number, context):
    """Returns a transcript."""
    found = stored(given.transcript)
    if found is None:
        raise Failure("INVALID_INPUT", f"there is no transcript {given.transcript}")
    parts = [kv.get(page(given.transcript, number)) for number in range(1, found["pages"] + 1)]
    content = b"".join(part for part in parts if part is not None)
    if hashlib.sha256(content).hexdigest() != found["sha256"]:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"a page of {given.transcript} is missing")
    return Content(found["title"], content.decode())
