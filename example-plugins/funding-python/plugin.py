"""Summarizes a professor's page: name, interests, publications and open positions."""

import re
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Optional

from latchwork import Failure, log, step, tools

SENTENCES = 3
OPENING = re.compile(r"position|opening|looking for|recruit|applications|vacanc", re.I)
WHOM = re.compile(r"phd|doctoral|student|postdoc|researcher", re.I)


@dataclass
class Source:
    """A file pinned by the SHA-256 of its content."""

    path: str
    sha256: str


@dataclass
class Page:
    page: Source


@dataclass
class Publication:
    title: str
    year: int


@dataclass
class Professor:
    name: str
    affiliation: str
    email: Optional[str]
    interests: list[str]
    summary: list[str]
    publications: list[Publication]
    openings: list[str]
    source: Source


@step("Professor.Summarize", effects=["read_only", "produce_outcome"], outcome=("Professor.Summary", "final"))
def summarize(given: Page, context) -> Professor:
    """Says who a professor is and what they work on, from their page."""
    file = tools.call("File.Read", {"path": given.page.path})
    if file["sha256"].lower() != given.page.sha256.lower():
        raise Failure("INVALID_INPUT", f"{given.page.path} was changed: its SHA-256 is {file['sha256']}, not {given.page.sha256}")
    professor = read(file["text"], given.page)
    log.info("%s: %d publications", professor.name, len(professor.publications))
    return professor


class Blocks(HTMLParser):
    """Parses a page into headings and texts."""

    def __init__(self):
        super().__init__()
        self.blocks, self.mail = [], None
        self._tag, self._text, self._hidden = None, [], 0

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "style", "nav", "head"):
            self._hidden += 1
        if tag in ("h1", "h2", "h3", "p", "li"):
            self._tag, self._text = tag, []
        href = dict(attributes).get("href") or ""
        if href.startswith("mailto:") and self.mail is None:
            self.mail = href.removeprefix("mailto:").split("?")[0]

    def handle_endtag(self, tag):
        if tag in ("script", "style", "nav", "head"):
            self._hidden -= 1
        if tag == self._tag:
            text = " ".join("".join(self._text).split())
            if text:
                self.blocks.append((tag, text))
            self._tag = None

    def handle_data(self, data):
        if self._tag and not self._hidden:
            self._text.append(data)


def read(html, source):
    page = Blocks()
    page.feed(html)
    name = next((text for tag, text in page.blocks if tag == "h1"), None)
    if name is None:
        raise Failure("INVALID_INPUT", f"{source.path} is not a professor's page: it has no main heading with a name")
    parts, heading, lead = {}, "", ""
    for tag, text in page.blocks[page.blocks.index(("h1", name)) + 1 :]:
        if tag.startswith("h"):
            heading = text.lower()
        elif not lead:
            lead = text
        else:
            parts.setdefault(heading, []).append(text)

    def about(*words):
        return [text for key, texts in parts.items() if any(word in key for word in words) for text in texts]

    interests = [part.strip(" .") for text in about("interest", "topic") for part in re.split(r"[;,]", text) if part.strip(" .")]
    publications = [found for text in about("publication", "paper") if (found := publication(text))]
    prose = [
        sentence
        for key, texts in parts.items()
        if "publication" not in key and "contact" not in key
        for text in texts
        if text.endswith((".", "!", "?")) and len(terms(text)) >= 5
        for sentence in sentences(text)
    ]
    is_opening = [bool(OPENING.search(sentence) and WHOM.search(sentence)) for sentence in prose]
    return Professor(
        name=name,
        affiliation=lead,
        email=page.mail,
        interests=interests,
        summary=most_telling([text for text, opening in zip(prose, is_opening) if not opening], interests),
        publications=sorted(publications, key=lambda found: -found.year),
        openings=[text for text, opening in zip(prose, is_opening) if opening],
        source=source,
    )


def sentences(text):
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text) if part.strip()]


def terms(text):
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3]


def publication(text):
    """Parses a citation: `A. Lind and B. Roy (2025). Title. Journal.`"""
    found = re.search(r"\(((?:19|20)\d\d)\)[.,]?\s*(.+)", text)
    if not found:
        return None
    title = sentences(found[2])[0].strip('".\u201c\u201d')
    return Publication(title, int(found[1]))


def most_telling(prose, interests):
    """Returns the most informative sentences, in the order of the text. An informative sentence shares many terms
    with the other sentences and with the interests."""
    frequency = Counter(term for sentence in prose for term in terms(sentence))
    wanted = {term for interest in interests for term in terms(interest)}

    def score(sentence):
        words = terms(sentence)
        common = sum(frequency[word] for word in words if frequency[word] > 1)
        return common / max(len(words), 1) + len(wanted.intersection(words))

    ranked = sorted(range(len(prose)), key=lambda at: (-score(prose[at]), at))
    return [prose[at] for at in sorted(ranked[:SENTENCES])]
