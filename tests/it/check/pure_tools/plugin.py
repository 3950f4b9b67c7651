import json
import random
import time
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import secrets, tool


@dataclass
class Args:
    reads: str


@tool("Pure.Reads", output=str, effects=["read_only"], determinism="pure")
def answer(args: Args, context):
    """Reads what it is asked for."""
    if args.reads == "clock":
        return str(int(time.time()) % 2)
    if args.reads == "random":
        return str(random.random())
    if args.reads == "secret":
        return secrets.get("TOKEN")
    print("working")
    seeded = random.Random(7).randint(0, 100)
    return json.dumps(sorted(set(args.reads)) + [seeded, datetime.fromtimestamp(0, timezone.utc).isoformat()])
