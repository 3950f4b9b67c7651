import random
import time
import uuid

from latchwork import events, step, tools


@step("Walk.There", determinism="stable")
def walk(_: dict, context):
    id, at = str(uuid.uuid4()), time.time()
    first = tools.call("MadeJsTool.Keep", {"text": f"{id} at {at}"})
    events.emit("halfway", {"id": id})
    dice = random.random()
    second = tools.call("MadeJsTool.Keep", {"text": f"{dice} after {first['key']}"})
    return {"id": id, "at": at, "dice": dice, "until": time.time(), "keys": [first["key"], second["key"]]}
