"""Breaches of all accounts of a domain, as Have I Been Pwned exports them: by the part before the @.

The service answers {alias: [names of breaches]}, without the domain; its page exports the domain and whole breaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Account(NamedTuple):
    """An account of a domain and its breaches: names, or whole ones. The domain is empty if the file has none."""

    alias: str
    domain: str
    breaches: list[Any]


def accounts_in(data: Any) -> list[Account] | None:
    """The accounts in an export of a domain; None if it is not such an export."""
    if not isinstance(data, dict) or not data:
        return None
    results = data.get("BreachSearchResults")
    if isinstance(results, list):
        listed = [each for each in results if isinstance(each, dict) and isinstance(each.get("Breaches"), list)]
        return [Account(str(each.get("Alias")), str(each.get("DomainName") or ""), each["Breaches"]) for each in listed]
    if all(isinstance(some, list) and some and all(isinstance(each, str) for each in some) for some in data.values()):
        # A mapping from words to lists of words may be anything; aliases have no spaces, and names of breaches no @.
        words = [*data, *(each for some in data.values() for each in some)]
        if not any(" " in alias for alias in data) and not any("@" in word or not word for word in words):
            return [Account(alias, "", some) for alias, some in data.items()]
    return None


def whose(account: Account, own: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The person's addresses that match an account; or, if none does, its own address, if the file gives the domain."""
    alias, domain = account.alias.casefold(), account.domain.casefold()
    mine = tuple(each for each in own if _parts(each)[0] == alias and domain in ("", _parts(each)[1]))
    return mine, () if mine or not domain else (f"{alias}@{domain}",)


def _parts(address: str) -> tuple[str, str]:
    alias, _, domain = address.strip().casefold().rpartition("@")
    return alias, domain
