from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Call:
    caller: str
    topic: str


@dataclass
class Filed:
    number: str


@tool("HotlineEntry.File", output=Filed, effects=["internal_write"])
def file(call: Call, context):
    """Files a call to the hotline."""
    if not call.topic.strip():
        raise Failure("INVALID_INPUT", "the topic is empty")
    number = f"call/{context.external_key}"
    text = f"{call.caller}: {call.topic.strip()}"
    kv.set(number, text)
    return Output(Filed(number), changes=[Change("call", number, "create", version=text)])


@file.verify
def check(change):
    found = kv.get(change.resource_id)
    if found and found.decode() != change.version:
        return f"the entry is {found.decode()!r} now"
    return True
