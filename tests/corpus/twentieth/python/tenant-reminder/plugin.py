"""Reminds tenants of the rent of a month."""

import json
from dataclasses import dataclass

from latchwork import Failure, step, tools

MONTHS = "January February March April May June July August September October November December".split()


@dataclass
class Tenant:
    id: str
    name: str
    mail: str
    open_cents: int


@dataclass
class Round:
    house: str
    month: str
    tenants: list[Tenant]


@dataclass
class Report:
    month: str
    reminded: list[str]
    paid: list[str]


def month_name(month):
    """Returns the name of a month such as 2026-03."""
    year, _, number = month.partition("-")
    if not (len(year) == 4 and year.isdecimal() and number.isdecimal() and 1 <= int(number) <= 12):
        raise Failure("INVALID_INPUT", f"{month} is no month")
    return f"{MONTHS[int(number) - 1]} {year}"


def check(tenants):
    seen = set()
    for tenant in tenants:
        if tenant.id in seen:
            raise Failure("INVALID_INPUT", f"the tenant {tenant.id} is given twice")
        if "@" not in tenant.mail:
            raise Failure("INVALID_INPUT", f"the tenant {tenant.id} has no mail address")
        seen.add(tenant.id)


def letter(house, tenant, month):
    amount = f"{tenant.open_cents // 100}.{tenant.open_cents % 100:02d}"
    return {
        "to": tenant.mail,
        "subject": f"Rent for {month}",
        "body": f"Dear {tenant.name},\n\nfor your flat in {house}, {amount} of the rent for {month} is open.",
    }


@step("Rent.Remind", effects=["external_send"], determinism="external")
def remind(given: Round, context) -> Report:
    """Sends a reminder to each tenant whose rent of the month is open."""
    month = month_name(given.month)
    check(given.tenants)
    reminded, paid = [], []
    for tenant in given.tenants:
        if tenant.open_cents <= 0:
            paid.append(tenant.id)
            continue
        key = json.dumps(["rent-reminder", given.house, tenant.id])
        tools.call("Mail.Send", letter(given.house, tenant, month), action_key=key)
        reminded.append(tenant.id)
    return Report(month, reminded, paid)
