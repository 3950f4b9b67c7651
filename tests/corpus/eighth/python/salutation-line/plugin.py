from dataclasses import dataclass
from typing import Literal, Optional

from latchwork import Failure, log, step

FORMS = {
    "en": ("Dear {title} {name},", "Dear {name},"),
    "de": ("Guten Tag, {title} {name},", "Guten Tag, {name},"),
    "fr": ("Bonjour {title} {name},", "Bonjour {name},"),
}


@dataclass
class Person:
    name: str
    language: Literal["en", "de", "fr"]
    title: Optional[str] = None


@dataclass
class Line:
    line: str


@step("Salutation.Write")
def write(person: Person, context) -> Line:
    """Writes the first line of a letter."""
    name = " ".join(person.name.split())
    if not name:
        raise Failure("INVALID_INPUT", "the name is empty")
    titled, plain = FORMS[person.language]
    if person.title is None:
        log.debug("no title of %s, asked by %s", name, context.actor)
        return Line(plain.format(name=name))
    return Line(titled.format(title=person.title, name=name))
