import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Notice:
    title: str
    text: str


@dataclass
class Posted:
    notice: str


@dataclass
class Title:
    notice: str
    title: str


@dataclass
class Retitled:
    notice: str
    title: str


def load(notice):
    text = kv.get(f"notice/{notice}")
    return None if text is None else json.loads(text)


def clean(title):
    short = " ".join(title.split())
    if not 3 <= len(short) <= 120:
        raise Failure("INVALID_INPUT", "a title has 3 to 120 characters")
    return short


def compare(notice, version):
    entry = load(notice)
    if entry is None:
        return "the notice is missing"
    return True if entry["title"] == version else f"the title is {entry['title']}"


def posted(key, title):
    return Output(Posted(key), changes=[Change("notice", key, "create", version=title)])


@tool("Notice.Post", output=Posted, effects=["internal_write"])
def post(notice: Notice, context):
    """Posts a notice on the board of a housing association."""
    title = clean(notice.title)
    if len(notice.text) > 8000:
        raise Failure("INVALID_INPUT", "the text has more than 8000 characters")
    kv.set(f"notice/{context.external_key}", json.dumps({"title": title, "text": notice.text}))
    return posted(context.external_key, title)


@post.reconcile
def find(notice: Notice, key):
    entry = load(key)
    return "did_not_happen" if entry is None else happened(posted(key, entry["title"]))


@post.verify
def check_notice(change):
    return compare(change.resource_id, change.version)


@tool("Notice.Retitle", output=Retitled, effects=["internal_write"])
def retitle(asked: Title, context):
    """Gives a notice another title."""
    title = clean(asked.title)
    entry = load(asked.notice)
    if entry is None:
        raise Failure("INVALID_INPUT", f"there is no notice {asked.notice}")
    entry["title"] = title
    kv.set(f"notice/{asked.notice}", json.dumps(entry))
    return Output(Retitled(asked.notice, title), changes=[Change("title", asked.notice, "update", version=title)])


@retitle.verify
def check_title(change):
    return compare(change.resource_id, change.version)
