"""Puts a leaflet together from texts of the parish archive."""

from dataclasses import dataclass

from latchwork import Failure, step, tools

MAX_PARTS = 8
MAX_WORDS = 20_000


@dataclass
class Part:
    """A text, pinned by the SHA-256 of its content."""

    path: str
    sha256: str
    heading: str = ""


@dataclass
class Leaflet:
    title: str
    parts: list[Part]
    max_words: int = 1200


@dataclass
class Draft:
    title: str
    text: str
    words: int
    left_out: list[str]


def texts(parts):
    """Reads the parts at the same time. Returns their texts in the order of the leaflet."""
    answers = tools.call_all([("File.Read", {"path": part.path}) for part in parts])
    found = []
    for part, answer in zip(parts, answers):
        if isinstance(answer, Failure):
            raise Failure("MISSING_REQUIRED_CONTEXT", f"{part.path} cannot be read")
        if answer["sha256"].lower() != part.sha256.lower():
            raise Failure("INVALID_INPUT", f"{part.path} is not the text with this SHA-256")
        found.append(answer["text"])
    return found


def paragraphs(text):
    """Joins the lines of each paragraph."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    return [" ".join(block.split()) for block in blocks if block.strip()]


@step("Leaflet.Compose", outcome=("Leaflet.Text", "draft"))
def compose(given: Leaflet, context) -> Draft:
    """Composes a leaflet. Parts that do not fit any more are left out, with all parts after them."""
    if not 1 <= len(given.parts) <= MAX_PARTS:
        raise Failure("INVALID_INPUT", f"a leaflet has 1 to {MAX_PARTS} parts, not {len(given.parts)}")
    if not 1 <= given.max_words <= MAX_WORDS:
        raise Failure("INVALID_INPUT", f"max_words: a leaflet has 1 to {MAX_WORDS} words, not {given.max_words}")
    blocks, words, left_out = [given.title], 0, []
    for part, text in zip(given.parts, texts(given.parts)):
        own = paragraphs(text)
        count = sum(len(block.split()) for block in own)
        if left_out or words + count > given.max_words:
            left_out.append(part.path)
            continue
        words += count
        if part.heading:
            blocks.append(part.heading.upper())
        blocks += own
    if words == 0:
        raise Failure("INVALID_INPUT", f"nothing fits into {given.max_words} words")
    return Draft(given.title, "\n\n".join(blocks) + "\n", words, left_out)
