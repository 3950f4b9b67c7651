import json

from latchwork import Change, Failure, Output, happened, kv, tool

TOPIC = {"type": "string", "pattern": "^[a-z0-9-]{1,60}$"}
WRITE = {
    "type": "object",
    "properties": {
        "topic": TOPIC,
        "question": {"type": "string", "minLength": 1, "maxLength": 300},
        "answer": {"type": "string", "minLength": 1, "maxLength": 3000},
    },
    "required": ["topic", "question", "answer"],
    "additionalProperties": False,
}
WRITTEN = {
    "type": "object",
    "properties": {"topic": {"type": "string"}, "replaced": {"type": "boolean"}},
    "required": ["topic", "replaced"],
    "additionalProperties": False,
}

# The entry before a change is kept under the key of the change, as the bytes that it had. No operator shows it.
NOTHING = b"-"


def read(topic):
    text = kv.get(f"topic:{topic}")
    return None if text is None else json.loads(text)


def written(topic, key, replaced):
    change = Change("topic", topic, "update" if replaced else "create", version=key)
    return Output({"topic": topic, "replaced": replaced}, receipt={"key": key}, changes=[change])


@tool("Faq.Write", input=WRITE, output=WRITTEN, effects=["internal_write"])
def write(args, context):
    """Writes the answer to a question on the board, in place of an earlier one."""
    topic, key = args["topic"], context.external_key
    question, answer = args["question"].strip(), args["answer"].strip()
    if not question or not answer:
        raise Failure("INVALID_INPUT", "the question or the answer is empty")
    before = kv.get(f"topic:{topic}")
    kv.set(f"before:{key}", NOTHING if before is None else before)
    try:
        kv.set(f"topic:{topic}", json.dumps({"question": question, "answer": answer, "key": key}))
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="unknown") from failure
    return written(topic, key, before is not None)


@write.reconcile
def find(args, key):
    before = kv.get(f"before:{key}")
    if before is None:
        return "did_not_happen"
    entry = read(args["topic"])
    if entry is None or entry["key"] != key:
        # Either the call ended before its last write, or the entry was replaced since.
        return "unknown"
    return happened(written(args["topic"], key, before != NOTHING))


@write.verify
def check(change):
    entry = read(change.resource_id)
    if change.operation == "delete":
        return True if entry is None else "the topic is on the board again"
    if entry is None:
        return "the topic is not on the board"
    return True if entry["key"] == change.version else "the topic has another answer"


@write.compensate
def put_back(args, result, key):
    topic = args["topic"]
    entry, before = read(topic), kv.get(f"before:{key}")
    if entry is None or entry["key"] != key or before is None:
        raise Failure("POLICY_DENIED", f"the topic {topic} was changed or removed since", applied="no")
    if before == NOTHING:
        if not kv.delete(f"topic:{topic}"):
            raise Failure("POLICY_DENIED", f"the topic {topic} was removed since", applied="no")
        return Output(None, changes=[Change("topic", topic, "delete")])
    kv.set(f"topic:{topic}", before)
    return Output(None, changes=[Change("topic", topic, "update", version=json.loads(before)["key"])])


@tool("Faq.Show", input={"type": "object", "properties": {"topic": TOPIC}, "required": ["topic"],
                         "additionalProperties": False}, effects=["read_only"])
def show(args, context):
    """Shows the question and the answer of a topic."""
    entry = read(args["topic"])
    if entry is None:
        return {"found": False}
    return {"found": True, "question": entry["question"], "answer": entry["answer"]}
