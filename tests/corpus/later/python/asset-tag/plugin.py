import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Asset:
    kind: str
    owner: str


@dataclass
class Tagged:
    tag: str


def tagged(key, tag):
    return Output(Tagged(tag), changes=[Change("asset", key, "create", version=tag)])


def stored(key):
    value = kv.get(f"asset/{key}")
    return None if value is None else json.loads(value)


@tool("Asset.Tag", output=Tagged, effects=["internal_write"])
def tag(asset: Asset, context):
    """Gives an asset of the company a tag."""
    if not asset.kind.isalpha() or not asset.owner.strip():
        raise Failure("INVALID_INPUT", "an asset needs a kind in letters and an owner")
    key = context.external_key
    made = f"{asset.kind[:3].upper()}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    kv.set(f"asset/{key}", json.dumps({"tag": made, "owner": asset.owner}))
    return tagged(key, made)


# Called after a crash: finds out whether the asset was tagged.
@tag.reconcile
def find(asset: Asset, key):
    found = stored(key)
    return "did_not_happen" if found is None else happened(tagged(key, found["tag"]))


# Called when a job is resumed: checks whether the asset still has the tag.
@tag.verify
def verify(change):
    found = stored(change.resource_id)
    if found is None:
        return "the asset is missing"
    # The inventory shows when an asset was seen last.
    kv.set(f"seen/{change.resource_id}", datetime.now(timezone.utc).isoformat())
    return True if found["tag"] == change.version else f"the asset has the tag {found['tag']}"
