"""Files an application for a permit. A repetition finds the application under the key of its call and leaves it as it
is."""

from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Application:
    applicant: str
    purpose: str


@dataclass
class Filed:
    file: str


def name(key):
    return f"application/{key}"


def filed(key, text):
    return Output(Filed(key), receipt={"file": key}, changes=[Change("application", name(key), "create", version=text)])


@tool("Permit.File", output=Filed, effects=["internal_write"], idempotent_by_key_seconds=7 * 86400)
def file(application: Application, context):
    """Files an application for a permit."""
    if not application.applicant or not application.purpose:
        raise Failure("INVALID_INPUT", "the applicant or the purpose is empty")
    key = context.external_key
    if kv.get(name(key)) is not None:
        return Filed(key)
    text = f"{application.applicant}: {application.purpose}"
    kv.set(name(key), text)
    return filed(key, text)


# Called after a crash: finds out whether the call happened.
@file.reconcile
def find(application: Application, key):
    text = kv.get(name(key))
    return "did_not_happen" if text is None else happened(filed(key, text.decode()))


# Called when a job is resumed.
@file.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the application is missing"
    return True if text.decode() == change.version else "the application has another text"
