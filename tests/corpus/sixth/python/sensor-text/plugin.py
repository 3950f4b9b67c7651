"""Reads the text of a sensor and returns its values with their mean."""

from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Reading:
    text: str


@dataclass
class Values:
    values: list[float]
    highest: float
    mean: float


@step("Sensor.Parse", determinism="pure")
def parse(reading: Reading, context) -> Values:
    """Reads the values of a sensor, which are separated by semicolons."""
    values = []
    for at, part in enumerate(reading.text.split(";")[:500]):
        try:
            values.append(float(part.strip().replace(",", ".")))
        except ValueError:
            raise Failure("INVALID_INPUT", f"value {at + 1} is not a number: {part[:40]!r}") from None
    if any(abs(value) > 1e6 for value in values):
        raise Failure("INVALID_INPUT", "a value is out of the range of the sensor")
    return Values(values, max(values), sum(values) / len(values))
