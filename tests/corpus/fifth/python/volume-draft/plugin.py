"""Puts the chapters of a volume into their order and checks its length. An event reports the draft to the editors."""

from dataclasses import dataclass

from latchwork import Failure, events, step


@dataclass
class Chapter:
    number: int
    title: str
    pages: int


@dataclass
class Volume:
    title: str
    chapters: list[Chapter]


@dataclass
class Draft:
    contents: list[str]
    pages: int


@step("Volume.Draft", determinism="pure")
def draft(volume: Volume, context) -> Draft:
    """Puts the chapters of a volume into their order."""
    chapters = sorted(volume.chapters, key=lambda chapter: chapter.number)
    numbers = [chapter.number for chapter in chapters]
    if len(set(numbers)) < len(numbers):
        raise Failure("INVALID_INPUT", "a chapter number is there twice")
    pages = sum(chapter.pages for chapter in chapters)
    if pages > 320:
        events.emit("volume-too-long", {"title": volume.title, "pages": pages, "thread": context.correlation_id})
    return Draft([f"{chapter.number}. {chapter.title}" for chapter in chapters], pages)
