"""Notices of a parish: the headline hangs in the window, the whole text lies in the binder."""

import json

from latchwork import Change, Failure, Output, happened, kv, tool

NOTICE = {
    "type": "object",
    "properties": {
        "headline": {"type": "string", "minLength": 1, "maxLength": 120},
        "text": {"type": "string", "minLength": 1, "maxLength": 5000},
    },
    "required": ["headline", "text"],
    "additionalProperties": False,
}
NAMED = {
    "type": "object",
    "properties": {"notice": {"type": "string", "pattern": "^[A-Za-z0-9_:/~-]{1,128}$"}},
    "required": ["notice"],
    "additionalProperties": False,
}


def window(notice):
    return f"window/{notice}"


def binder(notice):
    return f"binder/{notice}"


def posted(key):
    return Output({"notice": key}, changes=[Change("notice", key, "create")])


@tool("Notice.Post", input=NOTICE, effects=["internal_write"])
def post(notice, context):
    """Hangs a notice in the window and puts its text into the binder."""
    if not notice["headline"].strip():
        raise Failure("INVALID_INPUT", "the headline is blank")
    key = context.external_key
    kv.set(window(key), json.dumps({"headline": notice["headline"]}))
    kv.set(binder(key), json.dumps({"text": notice["text"]}))
    return posted(key)


@post.reconcile
def find(notice, key):
    return "did_not_happen" if kv.get(binder(key)) is None else happened(posted(key))


@tool("Notice.Glance", input=NAMED)
def glance(wish, context):
    """Reads the headline of a notice in the window."""
    found = kv.get(window(wish["notice"]))
    if found is None:
        raise Failure("INVALID_INPUT", f"there is no notice {wish['notice']}")
    return json.loads(found)


@tool("Notice.Read", input=NAMED)
def read(wish, context):
    """Reads the text of a notice in the binder."""
    found = kv.get(binder(wish["notice"]))
    if found is None:
        raise Failure("INVALID_INPUT", f"there is no notice {wish['notice']}")
    return json.loads(found)
