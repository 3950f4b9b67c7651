"""Checks that the antennas of a radio mast carry the bands of its licence, and sums up the mast's load."""

from dataclasses import dataclass

from latchwork import Failure, log, step

MAX_ANTENNAS = 200
MAX_WATTS = 5_000


@dataclass
class Antenna:
    band: str
    azimuth: int
    watts: int


@dataclass
class Mast:
    site: str
    licensed: list[str]
    antennas: list[Antenna]


@dataclass
class BandLoad:
    band: str
    antennas: int
    watts: int
    azimuths: list[int]


@dataclass
class Load:
    site: str
    bands: list[BandLoad]
    watts: int


def normal(band):
    return band.strip().lower().replace(" ", "")


def validate(mast):
    if not mast.site.strip():
        raise Failure("INVALID_INPUT", "the mast has no site")
    if len(mast.antennas) > MAX_ANTENNAS:
        raise Failure("INVALID_INPUT", f"{len(mast.antennas)} antennas, but a mast carries at most {MAX_ANTENNAS}")
    for number, antenna in enumerate(mast.antennas, 1):
        if not 0 <= antenna.watts <= MAX_WATTS:
            raise Failure("INVALID_INPUT", f"antenna {number} has {antenna.watts} W")
        if not 0 <= antenna.azimuth < 360:
            raise Failure("INVALID_INPUT", f"antenna {number} points to {antenna.azimuth} degrees")


@step("Mast.SumBands")
def sum_bands(mast: Mast, context) -> Load:
    """Sums up antennas and power of a mast for each band."""
    validate(mast)
    licensed = {normal(band) for band in mast.licensed}
    carried = {normal(antenna.band) for antenna in mast.antennas}

    missing = licensed - carried
    if missing:
        raise Failure("INVALID_INPUT", f"{mast.site}: no antenna for {', '.join(missing)}")
    unlicensed = sorted(carried - licensed)
    if unlicensed:
        raise Failure("POLICY_DENIED", f"{mast.site}: no licence for {', '.join(unlicensed)}")

    bands = []
    for band in sorted(carried):
        of_band = [antenna for antenna in mast.antennas if normal(antenna.band) == band]
        azimuths = sorted({antenna.azimuth for antenna in of_band})
        bands.append(BandLoad(band, len(of_band), sum(antenna.watts for antenna in of_band), azimuths))
    log.debug("%s: %d bands", mast.site, len(bands))
    return Load(mast.site, bands, sum(band.watts for band in bands))
