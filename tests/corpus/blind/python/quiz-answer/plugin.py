import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Answer:
    team: str
    question: int
    text: str


@dataclass
class Taken:
    entry: str
    at: str


@tool("QuizAnswer.Take", output=Taken, effects=["internal_write"], idempotent_by_key_seconds=7200)
def take(answer: Answer, context):
    """Takes the answer of a team of a quiz."""
    if not 1 <= answer.question <= 40:
        raise Failure("INVALID_INPUT", "there are 40 questions")
    if len(answer.text) > 500 or len(answer.team) > 100:
        raise Failure("INVALID_INPUT", "the answer is too long")
    entry = f"answer/{context.external_key}"
    stored = kv.get(entry)
    if stored is None:
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        stored = json.dumps({"team": answer.team, "question": answer.question, "text": answer.text, "at": at}).encode()
        kv.set(entry, stored)
    at = json.loads(stored)["at"]
    return Output(Taken(entry, at), changes=[Change("answer", entry, "create", version=at)])
