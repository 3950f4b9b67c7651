import datetime
import email.utils
import os
import random
import secrets
import socket
import time
import uuid
from random import randint
from time import time as now

from latchwork import Failure, step

# These random generators are created while the component is built. The step draws numbers from them at
# run time.
SHARED = random.Random()
SEEDED = random.Random(7)


@step("Ambient.Look", determinism="stable")
def look(_: dict, context):
    at = datetime.datetime.now(datetime.timezone.utc)
    assert isinstance(at, datetime.datetime) and isinstance(at + datetime.timedelta(1), datetime.datetime)
    assert datetime.datetime.strptime("2020-01-02", "%Y-%m-%d") == datetime.datetime(2020, 1, 2)
    assert len(random.sample(range(100), 3)) == 3

    import late
    from fractions import Fraction

    assert late.half() == Fraction(1, 2)
    print("looking around")
    return {
        "clocks": {
            "now": now(),
            "ns": str(time.time_ns()),
            "monotonic": time.monotonic(),
            "datetime": at.isoformat(),
            "naive": datetime.datetime.now().isoformat(),
            "utcnow": datetime.datetime.utcnow().isoformat(),
            "clock_gettime": time.clock_gettime(time.CLOCK_REALTIME),
            "times": os.times().elapsed,
            "logged": time.strftime("%H:%M:%S") + f"{time.time() % 1:.6f}",
        },
        "random": {
            "random": random.random(),
            "randint": randint(0, 10**12),
            "shared": SHARED.random(),
            "fresh": random.Random().random(),
            "system": random.SystemRandom().random(),
            "uuid": str(uuid.uuid4()),
            "secrets": secrets.token_hex(8),
            "uuid1": str(uuid.uuid1()),
            "node": str(uuid.getnode()),
            "message_id": email.utils.make_msgid(),
            "urandom": os.urandom(8).hex(),
        },
        "fixed": {"seeded": SEEDED.random(), "set": list({f"k{i}" for i in range(8)}), "environment": dict(os.environ)},
        "injected_seconds": at.timestamp(),
    }


def deepInside():
    raise ValueError("the cellar is flooded")


@step("Ambient.Fail")
def fail(given: dict, context):
    how = given["how"]
    if how == "exception":
        deepInside()
    if how == "half":
        raise ValueError("half of \ud83d")
    if how == "several":
        raise ExceptionGroup("both", [ValueError("the first"), KeyError("the second")])
    if how == "exit":
        os._exit(3)
    if how == "network":
        socket.gethostbyname("example.org")
    if how == "wrapped network":
        try:
            socket.gethostbyname("example.org")
        except OSError as error:
            raise RuntimeError("the library could not connect") from error
    if how == "half result":
        return {"n": "half of \ud83d"}
    if how == "itself":
        given["itself"] = given
        return given
    if how == "big":
        return {"n": [2**53]}
    if how == "half print":
        print("half \ud83d of it", end="")
        return {"n": 1}
    if how == "failure":
        raise Failure("AUTH_FORBIDDEN", "no key")
    return {"n": float("nan")}
