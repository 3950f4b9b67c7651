"""Corpus of steps written in typical Python.

Each Bad step breaks a rule of the checker. The Good step next to it looks similar and breaks none.
"""

import logging
import os
import random
import threading
import time
import uuid
import zlib
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, events, step, tools


@dataclass
class Text:
    text: str


@dataclass
class Words:
    words: list[str]


# A step that returns the time is not pure: a later job that reuses the result would get the time of an
# earlier job.
@step("Bad.Stamp")
def bad_stamp(given: Text, context) -> Text:
    """Signs a text with the time."""
    return Text(f"{given.text}, {datetime.now(timezone.utc):%Y-%m-%d}")


@step("Good.Stamp", determinism="stable")
def good_stamp(given: Text, context) -> Text:
    """Signs a text with the time. Declared stable."""
    return Text(f"{given.text}, {datetime.now(timezone.utc):%Y-%m-%d}")


# A log record without its time reads no clock.
@step("Good.Logged")
def good_logged(given: Text, context) -> Text:
    """Logs a text and returns it."""
    logging.getLogger("corpus").warning("given %s", given.text)
    return given


# A step that returns a random id is not pure.
@step("Bad.Ticket")
def bad_ticket(given: Text, context) -> Text:
    """Opens a ticket."""
    return Text(f"{given.text} #{uuid.uuid4()}")


@step("Good.Ticket")
def good_ticket(given: Text, context) -> Text:
    """Opens a ticket whose id depends on the text only."""
    return Text(f"{given.text} #{uuid.uuid5(uuid.NAMESPACE_URL, given.text)}")


# A step that draws at random is not pure.
@step("Bad.Winner")
def bad_winner(given: Words, context) -> Text:
    """Draws a winner."""
    return Text(random.choice(given.words) + str(random.random()))


@step("Good.Winner")
def good_winner(given: Words, context) -> Text:
    """Draws a winner with a generator seeded by the list."""
    return Text(random.Random("".join(given.words)).choice(given.words or ["no word"]))


# A step that returns the job id is not pure.
@step("Bad.Footer")
def bad_footer(given: Text, context) -> Text:
    """Adds a footer."""
    return Text(f"{given.text}\n-- {context.job_id}")


@step("Good.Footer", determinism="stable")
def good_footer(given: Text, context) -> Text:
    """Adds a footer. Declared stable."""
    print("in", context.job_id)
    return Text(f"{given.text}\n-- {context.step_id}")


# The text of an object without a text of its own is its address.
@step("Bad.Label")
def bad_label(given: Text, context) -> Text:
    """Labels a text."""
    return Text(f"{given.text} {object()!r}")


@step("Good.Label")
def good_label(given: Text, context) -> Text:
    """Labels a text."""
    return Text(f"{given.text} {Text(given.text)!r} 0x4c0700")


# The order of a set of strings depends on a hash seed chosen at build time.
@step("Bad.Tags")
def bad_tags(given: Words, context) -> Words:
    """Removes duplicates."""
    return Words(list(set(given.words)))


@step("Good.Tags")
def good_tags(given: Words, context) -> Words:
    """Removes duplicates."""
    return Words(sorted(set(given.words)))


# The `hash()` of a string depends on a seed that is chosen at build time.
@step("Bad.Shard")
def bad_shard(given: Text, context) -> dict:
    """Returns the shard of a key."""
    return {"shard": hash(given.text) % 100_000}


@step("Good.Shard")
def good_shard(given: Text, context) -> dict:
    """Returns the shard of a key."""
    return {"shard": zlib.crc32(given.text.encode()) % 100_000}


COUNTS = {}


# The dictionary is empty at the start of every run.
@step("Bad.Count")
def bad_count(given: Text, context) -> dict:
    """Returns how often a text was seen."""
    COUNTS[given.text] = COUNTS.get(given.text, 0) + 1
    return {"seen": COUNTS[given.text]}


@step("Good.Count")
def good_count(given: Words, context) -> dict:
    """Counts the occurrences of each word."""
    counts = {}
    for word in given.words:
        counts[word] = counts.get(word, 0) + 1
    return counts


# A step has no threads.
@step("Bad.Workers")
def bad_workers(given: Words, context) -> Words:
    """Converts words to upper case, several concurrently."""
    made = []
    workers = [threading.Thread(target=lambda word=word: made.append(word.upper())) for word in given.words]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return Words(made)


@step("Good.Workers", determinism="external")
def good_workers(given: Words, context) -> Words:
    """Fetches several pages concurrently."""
    pages = tools.call_all([("Web.Fetch", {"url": word}) for word in given.words])
    for page in pages:
        if isinstance(page, Failure):
            raise page
    return Words([page["text"] for page in pages])


# A failed call has no text, so the step ends with a TypeError and not with the failure.
@step("Bad.Pages", determinism="external")
def bad_pages(given: Words, context) -> Words:
    """Fetches several pages."""
    return Words([page["text"] for page in tools.call_all([("Web.Fetch", {"url": word}) for word in given.words])])


# A step has no environment variables.
@step("Bad.Region")
def bad_region(given: Text, context) -> Text:
    """Returns the region of the host."""
    return Text(f"{given.text} in {os.environ['REGION']}")


@step("Good.Region")
def good_region(given: Text, context) -> Text:
    """Returns the region of the host, if it is known."""
    return Text(f"{given.text} in {os.environ.get('REGION', 'no region')}")


# A step has no files.
@step("Bad.Template")
def bad_template(given: Text, context) -> Text:
    """Fills a template."""
    with open("/templates/letter.txt") as template:
        return Text(template.read().format(given.text))


@step("Good.Template", determinism="external")
def good_template(given: Text, context) -> Text:
    """Fills a template."""
    return Text(tools.call("File.Read", {"path": "/templates/letter.txt"})["text"].format(given.text))


# The number of calls that the step makes depends on the time that the first call took.
@step("Bad.Patience", determinism="external")
def bad_patience(given: Text, context) -> dict:
    """Fetches a page, or reads it from the cache if the server is slow."""
    began = time.monotonic()
    page = tools.call("Web.Fetch", {"url": given.text})
    if time.monotonic() - began > 5:
        page = tools.call("Cache.Read", {"url": given.text})
    return {"page": page}


@step("Good.Patience", determinism="external")
def good_patience(given: Text, context) -> dict:
    """Fetches a page and returns how long the fetch took."""
    began = time.monotonic()
    page = tools.call("Web.Fetch", {"url": given.text})
    return {"page": page, "seconds": time.monotonic() - began}


# The clock of a step does not advance while the step loops, so this loop never ends.
@step("Bad.Wait", determinism="stable")
def bad_wait(given: Text, context) -> Text:
    """Waits a second."""
    until = time.time() + 1
    while time.time() < until:
        pass
    return given


# A Python step cannot sleep.
@step("Bad.Sleep", determinism="stable")
def bad_sleep(given: Text, context) -> Text:
    """Waits a second."""
    time.sleep(1)
    return given


# It sleeps after a failed call alone.
@step("Bad.Retry", determinism="external")
def bad_retry(given: Text, context) -> Text:
    """Fetches a page, and once more after a pause."""
    for pause in (1, 0):
        try:
            tools.call("Web.Fetch", {"url": given.text})
            return given
        except Failure:
            if pause:
                time.sleep(pause)
    return Text("no page")


@step("Good.Wait", determinism="stable")
def good_wait(given: Text, context) -> Text:
    """Returns the time until which the caller has to wait."""
    until = time.time() + 1
    return Text(f"{given.text} until {until}")


# The result has a string where the schema requires a number.
@step("Bad.Length")
def bad_length(given: Text, context) -> dict[str, int]:
    """Returns the length of a text."""
    return {"length": f"{len(given.text)}"}


@step("Good.Length")
def good_length(given: Text, context) -> dict[str, int]:
    """Returns the length of a text."""
    return {"length": len(given.text)}


# The name of an event must be a constant. Variable text, such as the subject of a mail, belongs in the payload.
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
