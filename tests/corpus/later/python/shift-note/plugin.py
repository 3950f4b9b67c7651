from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Note:
    ward: str
    text: str


@dataclass
class Kept:
    entry: str


def entry_of(job_id, ward):
    return f"note/{ward}/{job_id}"


def kept(entry):
    return Output(Kept(entry), changes=[Change("note", entry, "create")])


@tool("Shift.Note", output=Kept, effects=["internal_write"])
def keep(note: Note, context):
    """Keeps a note of a shift for a ward."""
    if not note.text.strip() or not note.ward.strip() or len(note.ward) > 60:
        raise Failure("INVALID_INPUT", "a note needs a ward and a text")
    # The id of the job is the same in every try, so a repeated call writes the same entry.
    entry = entry_of(context.job_id, note.ward)
    kv.set(entry, note.text)
    return kept(entry)


# Called after a crash. The second part of the key is the id of the job.
@keep.reconcile
def find(note: Note, key):
    entry = entry_of(key.split(":")[1], note.ward)
    return "did_not_happen" if kv.get(entry) is None else happened(kept(entry))
