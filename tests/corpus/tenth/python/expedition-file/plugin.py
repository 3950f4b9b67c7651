import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Camp:
    name: str
    altitude: int


@dataclass
class Member:
    name: str
    remarks: str = ""


@dataclass
class Expedition:
    title: str
    camps: list[Camp]
    members: list[Member]


@dataclass
class Filed:
    id: str


@dataclass
class Question:
    id: str


@tool("Expedition.File", output=Filed, effects=["internal_write"])
def file(expedition: Expedition, context):
    """Files the route and the members of an expedition for the rescue service."""
    if not expedition.camps or not expedition.members:
        raise Failure("INVALID_INPUT", "an expedition has camps and members")
    key = context.external_key
    route = [{"name": camp.name, "altitude": camp.altitude} for camp in expedition.camps]
    members = [{"name": member.name, "remarks": member.remarks} for member in expedition.members]
    kv.set(f"{key}.route", json.dumps({"title": expedition.title, "camps": route}))
    kv.set(f"{key}.members", json.dumps(members))
    changes = [Change("route", f"{key}.route", "create"), Change("members", f"{key}.members", "create")]
    return Output(Filed(key), changes=changes)


@tool("Expedition.Route")
def route(question: Question, context) -> dict:
    """Returns the route of an expedition, for the map of the rescue service."""
    found = kv.get(f"{question.id}.route")
    if found is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"no expedition {question.id}")
    return json.loads(found)
