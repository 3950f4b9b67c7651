import random
import time
from dataclasses import dataclass

from latchwork import Failure, step

DAY = 24 * 60 * 60


@dataclass
class Quotes:
    quotes: list[str]


@dataclass
class Pick:
    quote: str


@step("Quote.Pick", determinism="pure")
def pick(quotes: Quotes, context) -> Pick:
    """Picks the quote of the day."""
    if not quotes.quotes:
        raise Failure("INVALID_INPUT", "there are no quotes")
    generator = random.Random(int(time.time()) // DAY)
    return Pick(generator.choice(sorted(quotes.quotes)))
