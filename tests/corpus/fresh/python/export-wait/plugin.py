import time
from dataclasses import dataclass

from latchwork import Failure, log, step, tools

PAUSE = 2
ROUNDS = 30


@dataclass
class Export:
    id: str


@dataclass
class Ready:
    url: str
    rounds: int


@step("Export.Wait", determinism="external")
def wait(export: Export, context) -> Ready:
    """Waits until an export is ready and returns its address."""
    for number in range(1, ROUNDS + 1):
        answer = tools.call("Export.Status", {"id": export.id})
        if answer["state"] == "done":
            return Ready(answer["url"], number)
        if answer["state"] == "failed":
            raise Failure("DEPENDENCY_UNAVAILABLE", f"the export {export.id} failed")
        log.info("the export %s is %s", export.id, answer["state"])
        time.sleep(PAUSE)
    raise Failure("NETWORK_TIMEOUT", f"the export {export.id} is not ready after {ROUNDS * PAUSE} s")
