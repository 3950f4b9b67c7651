import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, Output, kv, tool

# Characters of the former instructions that a job shows in its result.
SHOWN = 500


@dataclass
class Program:
    kettle: str
    instructions: str


@dataclass
class Former:
    instructions: str
    by: str


@dataclass
class Programmed:
    kettle: str
    former: Optional[Former]


def name_of(kettle):
    if not kettle.isalnum() or len(kettle) > 20:
        raise Failure("INVALID_INPUT", "the name of a kettle has 1 to 20 letters and digits")
    return f"kettle/{kettle}"


def load(name):
    text = kv.get(name)
    return None if text is None else json.loads(text)


@tool("Kettle.Program", output=Programmed, effects=["internal_write"])
def program(asked: Program, context):
    """Gives a brewing kettle its instructions, and returns the former ones."""
    name = name_of(asked.kettle)
    if not asked.instructions.strip() or len(asked.instructions) > 6000:
        raise Failure("INVALID_INPUT", "instructions have 1 to 6000 characters")
    before = load(name)
    former = None if before is None else Former(before["instructions"][:SHOWN], before["by"])
    kv.set(name, json.dumps({"instructions": asked.instructions, "by": context.external_key}))
    return Output(Programmed(asked.kettle, former), receipt={"kettle": asked.kettle})


@program.compensate
def put_back(asked: Program, result, key):
    """Puts the former instructions of the kettle back."""
    name = name_of(asked.kettle)
    now = load(name)
    if now is None or now["by"] != key:
        raise Failure("POLICY_DENIED", f"kettle {asked.kettle} has other instructions by now")
    if result["former"] is None:
        kv.delete(name)
    else:
        kv.set(name, json.dumps(result["former"]))
    return Output({"kettle": asked.kettle})
