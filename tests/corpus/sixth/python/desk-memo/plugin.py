"""Leaves a memo on a desk, and takes it away again when the job is undone."""

from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, log, tool


@dataclass
class Memo:
    desk: str
    text: str


@dataclass
class Left:
    memo: str


def left(key, text):
    return Output(Left(key), changes=[Change("memo", key, "create", version=text)])


@tool("Memo.Leave", output=Left, effects=["internal_write"])
def leave(memo: Memo, context):
    """Leaves a memo on a desk."""
    if not memo.desk or not memo.text or len(memo.text) > 2000:
        raise Failure("INVALID_INPUT", "the memo needs a desk and a text of at most 2000 characters")
    kv.set(context.external_key, memo.text)
    return left(context.external_key, memo.text)


@leave.reconcile
def find(memo: Memo, key):
    text = kv.get(key)
    return "did_not_happen" if text is None else happened(left(key, text.decode()))


@leave.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the memo is missing"
    return True if text.decode() == change.version else "the memo has another text"


@leave.compensate
def take_away(memo: Memo, result, key):
    text = kv.get(key)
    if text is None or text.decode() != memo.text:
        raise Failure("POLICY_DENIED", "the memo was changed or removed")
    try:
        kv.delete(key)
    except Failure as failure:
        log.warn("the memo of %s stays for now: %s", memo.desk, failure)
    return Output(None, changes=[Change("memo", key, "delete")])
