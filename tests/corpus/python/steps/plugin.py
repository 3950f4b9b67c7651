"""Steps as people write them in Python: each Bad one breaks a rule, the Good one beside it looks alike and is right."""

import os
import random
import threading
import time
import uuid
import zlib
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import events, step, tools


@dataclass
class Text:
    text: str


@dataclass
class Words:
    words: list[str]


# "Pure" and the time are a contradiction: a cached report would carry the time of another job.
@step("Bad.Stamp")
def bad_stamp(given: Text, context) -> Text:
    """Signs a text with the time."""
    return Text(f"{given.text}, {datetime.now(timezone.utc):%Y-%m-%d}")


@step("Good.Stamp", determinism="stable")
def good_stamp(given: Text, context) -> Text:
    """Signs a text with the time, and says that it does."""
    return Text(f"{given.text}, {datetime.now(timezone.utc):%Y-%m-%d}")


# An id of its own in what is called pure.
@step("Bad.Ticket")
def bad_ticket(given: Text, context) -> Text:
    """Opens a ticket."""
    return Text(f"{given.text} #{uuid.uuid4()}")


@step("Good.Ticket")
def good_ticket(given: Text, context) -> Text:
    """Opens a ticket: the same text is the same ticket."""
    return Text(f"{given.text} #{uuid.uuid5(uuid.NAMESPACE_URL, given.text)}")


# Drawn by lot in what is called pure.
@step("Bad.Winner")
def bad_winner(given: Words, context) -> Text:
    """Draws a winner."""
    return Text(random.choice(given.words) + str(random.random()))


@step("Good.Winner")
def good_winner(given: Words, context) -> Text:
    """Draws a winner by the list itself."""
    return Text(random.Random("".join(given.words)).choice(given.words))


# The id of the job in what is called pure.
@step("Bad.Footer")
def bad_footer(given: Text, context) -> Text:
    """Adds a footer."""
    return Text(f"{given.text}\n-- {context.job_id}")


@step("Good.Footer")
def good_footer(given: Text, context) -> Text:
    """Adds a footer."""
    print("in", context.job_id)
    return Text(f"{given.text}\n-- {context.step_id}")


# The order of a set of strings goes by a seed that the build made.
@step("Bad.Tags")
def bad_tags(given: Words, context) -> Words:
    """Leaves out what is there twice."""
    return Words(list(set(given.words)))


@step("Good.Tags")
def good_tags(given: Words, context) -> Words:
    """Leaves out what is there twice."""
    return Words(sorted(set(given.words)))


# hash() of a text goes by the same seed.
@step("Bad.Shard")
def bad_shard(given: Text, context) -> dict:
    """Says which shard a key belongs to."""
    return {"shard": hash(given.text) % 100_000}


@step("Good.Shard")
def good_shard(given: Text, context) -> dict:
    """Says which shard a key belongs to."""
    return {"shard": zlib.crc32(given.text.encode()) % 100_000}


COUNTS = {}


# The next run does not see this dictionary.
@step("Bad.Count")
def bad_count(given: Text, context) -> dict:
    """Says how often a text was seen."""
    COUNTS[given.text] = COUNTS.get(given.text, 0) + 1
    return {"seen": COUNTS[given.text]}


@step("Good.Count")
def good_count(given: Words, context) -> dict:
    """Says how often each word is there."""
    counts = {}
    for word in given.words:
        counts[word] = counts.get(word, 0) + 1
    return counts


# There are no threads.
@step("Bad.Workers")
def bad_workers(given: Words, context) -> Words:
    """Makes words long, several at once."""
    made = []
    workers = [threading.Thread(target=lambda word=word: made.append(word.upper())) for word in given.words]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return Words(made)


@step("Good.Workers", determinism="external")
def good_workers(given: Words, context) -> Words:
    """Fetches pages, several at once."""
    return Words([page["text"] for page in tools.call_all([("Web.Fetch", {"url": word}) for word in given.words])])


# There is no environment.
@step("Bad.Region")
def bad_region(given: Text, context) -> Text:
    """Says where it runs."""
    return Text(f"{given.text} in {os.environ['REGION']}")


@step("Good.Region")
def good_region(given: Text, context) -> Text:
    """Says where it runs, if anybody knows."""
    return Text(f"{given.text} in {os.environ.get('REGION', 'no region')}")


# There are no files.
@step("Bad.Template")
def bad_template(given: Text, context) -> Text:
    """Fills a template."""
    with open("/templates/letter.txt") as template:
        return Text(template.read().format(given.text))


@step("Good.Template", determinism="external")
def good_template(given: Text, context) -> Text:
    """Fills a template."""
    return Text(tools.call("File.Read", {"path": "/templates/letter.txt"})["text"].format(given.text))


# Which tools it calls goes by how fast the first one was.
@step("Bad.Patience", determinism="external")
def bad_patience(given: Text, context) -> dict:
    """Fetches a page, from the cache where the server is slow."""
    began = time.monotonic()
    page = tools.call("Web.Fetch", {"url": given.text})
    if time.monotonic() - began > 5:
        page = tools.call("Cache.Read", {"url": given.text})
    return {"page": page}


@step("Good.Patience", determinism="external")
def good_patience(given: Text, context) -> dict:
    """Fetches a page, and says how long that took."""
    began = time.monotonic()
    page = tools.call("Web.Fetch", {"url": given.text})
    return {"page": page, "seconds": time.monotonic() - began}


# A step's clock stands while it waits.
@step("Bad.Wait", determinism="stable")
def bad_wait(given: Text, context) -> Text:
    """Waits a second."""
    until = time.time() + 1
    while time.time() < until:
        pass
    return given


# Nor can it sleep.
@step("Bad.Sleep", determinism="stable")
def bad_sleep(given: Text, context) -> Text:
    """Waits a second."""
    time.sleep(1)
    return given


@step("Good.Wait", determinism="stable")
def good_wait(given: Text, context) -> Text:
    """Says until when somebody else is to wait."""
    until = time.time() + 1
    return Text(f"{given.text} until {until}")


# A text where the schema says a number.
@step("Bad.Length")
def bad_length(given: Text, context) -> dict[str, int]:
    """Says how long a text is."""
    return {"length": f"{len(given.text)}"}


@step("Good.Length")
def good_length(given: Text, context) -> dict[str, int]:
    """Says how long a text is."""
    return {"length": len(given.text)}


# The name of an event is for ever; the subject of a mail is not.
@step("Bad.Announce")
def bad_announce(given: Text, context) -> Text:
    """Announces a draft."""
    events.emit(f"drafted {given.text}", {})
    return given


@step("Good.Announce")
def good_announce(given: Text, context) -> Text:
    """Announces a draft."""
    events.emit("drafted", {"subject": given.text})
    return given
