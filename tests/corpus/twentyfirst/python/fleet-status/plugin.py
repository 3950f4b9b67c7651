import hashlib
import json

from latchwork import Change, Failure, Output, happened, kv, tool

PLATE = {"type": "string", "pattern": "^[A-Z]{1,3}-[A-Z0-9]{1,8}$"}
TEXT = {"type": "string", "minLength": 1, "maxLength": 120}


def form(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def entry_of(plate):
    return f"vehicle:{plate}"


def read(plate):
    text = kv.get(entry_of(plate))
    return None if text is None else json.loads(text)


def version_of(status):
    """A digest of the whole status."""
    return hashlib.sha256(json.dumps(status, sort_keys=True).encode()).hexdigest()[:32]


def reported(resource, plate, status):
    change = Change(resource, plate, "update", version=version_of(status))
    return Output({"plate": plate, "state": status["state"]}, receipt={"key": status["key"]}, changes=[change])


def write(plate, status):
    kv.set(entry_of(plate), json.dumps(status))
    return status


def asked(resource, plate, key):
    """Whether the status was written by the call. A later call replaces the whole status."""
    status = read(plate)
    if status is None:
        return "did_not_happen"
    return happened(reported(resource, plate, status)) if status["key"] == key else "unknown"


def checked(change):
    status = read(change.resource_id)
    if status is None:
        return "the vehicle has no status"
    return True if version_of(status) == change.version else f"the vehicle has the state {status['state']}"


@tool("Fleet.Park", input=form(plate=PLATE, place=TEXT, km={"type": "integer", "minimum": 0, "maximum": 2_000_000}),
      output=form(plate={"type": "string"}, state={"type": "string"}), effects=["internal_write"])
def park(args, context):
    """Notes that a vehicle is parked and free, in place of its earlier status."""
    place = args["place"].strip()
    if not place:
        raise Failure("INVALID_INPUT", "the place is empty")
    status = {"state": "free", "place": place, "km": args["km"], "key": context.external_key}
    return reported("vehicle", args["plate"], write(args["plate"], status))


@tool("Fleet.Service", input=form(plate=PLATE, garage=TEXT, reason=TEXT),
      output=form(plate={"type": "string"}, state={"type": "string"}), effects=["internal_write"])
def service(args, context):
    """Notes that a vehicle is in a garage, in place of its earlier status."""
    if not args["reason"].strip():
        raise Failure("INVALID_INPUT", "the reason is empty")
    status = {"state": "service", "place": args["garage"], "reason": args["reason"], "key": context.external_key}
    return reported("service", args["plate"], write(args["plate"], status))


@park.reconcile
def find_parked(args, key):
    return asked("vehicle", args["plate"], key)


@service.reconcile
def find_service(args, key):
    return asked("service", args["plate"], key)


park.verify(checked)
service.verify(checked)
