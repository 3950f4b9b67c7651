"""Lets a member follow a topic. A member follows a topic once, however often the button is pressed."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Follow:
    member: str
    topic: str


@dataclass
class Followed:
    entry: str


def name(follow):
    return f"follow/{follow.topic}/{follow.member}"


def followed(follow, level):
    return Output(Followed(name(follow)), changes=[Change("follow", name(follow), "update", version=level)])


@tool("Topic.Follow", output=Followed, effects=["internal_write"])
def follow(follow: Follow, context):
    """Notes that a member follows a topic."""
    if not follow.member or not follow.topic or len(name(follow).encode()) > 200:
        raise Failure("INVALID_INPUT", "member or topic is missing or too long")
    kv.set(name(follow), json.dumps({"level": "all", "by": context.external_key}))
    return followed(follow, "all")


@follow.reconcile
def find(follow: Follow, key):
    found = kv.get(name(follow))
    if found is None:
        return "did_not_happen"
    return happened(followed(follow, json.loads(found)["level"]))


@follow.verify
def check(change):
    found = kv.get(change.resource_id)
    if found is None:
        return "the entry is missing"
    level = json.loads(found)["level"]
    return True if level == change.version else f"the level is {level}"
