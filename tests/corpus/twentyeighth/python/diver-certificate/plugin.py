"""Certificates of a diving school. The school keeps its house style in the map; each certificate is an entry of its own."""

import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, kv, log, tool

HOUSE = "house/style"
PLAIN = {"school": "Diving school", "language": "en", "signs": "The instructor"}
TITLES = {
    "en": {"open": "Open Water Diver", "advanced": "Advanced Diver", "rescue": "Rescue Diver"},
    "da": {"open": "Dykker i åbent vand", "advanced": "Øvet dykker", "rescue": "Redningsdykker"},
}


@dataclass
class Course:
    diver: str
    level: Literal["open", "advanced", "rescue"]
    dives: int
    passed_on: str
    remarks: str = ""


@dataclass
class Certificate:
    certificate: str
    title: str
    text: str


@dataclass
class Style:
    school: str
    language: Literal["en", "da"]
    signs: str


@dataclass
class Kept:
    school: str


def house_style():
    """Returns the style of the school. A school that has set none gets the plain one."""
    style = dict(PLAIN)
    try:
        style.update(json.loads(kv.get(HOUSE) or b"{}"))
    except (Failure, ValueError) as error:
        # A certificate must not wait for its letterhead.
        log.warn("the house style cannot be used: %s", error)
    return style


@tool("Certificate.Issue", effects=["internal_write"], idempotent_by_key_seconds=86_400)
def issue(course: Course, context) -> Certificate:
    """Issues the certificate of a diving course."""
    diver = course.diver.strip()
    if not diver:
        raise Failure("INVALID_INPUT", "the diver has no name")
    if course.dives < 4:
        raise Failure("INVALID_INPUT", "a course has at least four dives")
    key = context.external_key
    earlier = kv.get(f"certificate/{key}")
    if earlier is not None:
        return Certificate(**json.loads(earlier))
    style = house_style()
    title = TITLES[style["language"]][course.level]
    lines = [style["school"], title, diver, f"{course.dives} / {course.passed_on}"]
    if course.remarks.strip():
        lines.append(course.remarks.strip())
    lines.append(style["signs"])
    made = {"certificate": key, "title": title, "text": "\n".join(lines)}
    kv.set(f"certificate/{key}", json.dumps(made))
    return Certificate(**made)


@tool("Style.Set", effects=["internal_write"])
def set_style(style: Style, context) -> Kept:
    """Sets the house style of the school."""
    kv.set(HOUSE, json.dumps({"school": style.school, "language": style.language, "signs": style.signs}))
    return Kept(style.school)
