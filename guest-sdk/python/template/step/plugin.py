import uuid
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, step


@dataclass
class Person:
    name: str


@dataclass
class Greeting:
    greeting: str
    id: str
    at: str


# A `pure` operator gives equal output for equal input in every job. This operator is only `stable`, because its id
# differs from job to job.
@step("{{Noun}}.Greet", determinism="stable")
def greet(person: Person, context) -> Greeting:
    """Greets a person by name."""
    if not person.name.strip():
        raise Failure("INVALID_INPUT", "the name is empty")
    print(f"greeting {person.name} for {context.actor}")
    return Greeting(f"Hello, {person.name}!", str(uuid.uuid4()), datetime.now(timezone.utc).isoformat())
