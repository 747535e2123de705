"""Misfortune to order: what the next requests to a route meet, and what the gateway does to events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .router import known

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Order:
    """One kind of misfortune for the next `times` requests to one route."""

    route: str
    times: int
    seconds: float = 0.0  # how long the request hangs before anything else
    status: int | None = None  # answered instead of, or after, the work
    code: int | None = None  # a refusal of Discord's
    retry_after: float | None = None  # a 429
    via: bool = True  # whether the 429 comes from Discord and not from the wall before it
    whole: bool = False  # whether the 429 is for every route
    dropped: bool = False  # the connection breaks without an answer
    meanwhile: Callable[[], object] | None = (
        None  # done when the request has come in, before anything else
    )
    after_work: bool = False  # Discord did what was asked, and then failed


class Faults:
    """Orders wait per route and are used up in the order they were given."""

    def __init__(self) -> None:
        self._orders: list[Order] = []

    def slow(self, route: str, seconds: float, *, times: int = 1) -> None:
        """The next requests hang for `seconds`, then go well."""
        self._add(Order(route, times, seconds=seconds))

    def fail(
        self,
        route: str,
        status: int = 500,
        *,
        times: int = 1,
        after_work: bool = False,
        seconds: float = 0.0,
    ) -> None:
        """The next requests are answered 500, 502 …; with `after_work` Discord has done what was asked all the same."""
        self._add(Order(route, times, seconds, status, after_work=after_work))

    def rate_limit(
        self,
        route: str,
        retry_after: float,
        *,
        times: int = 1,
        via: bool = True,
        whole: bool = False,
    ) -> None:
        """The next requests are answered 429. Without `via` it looks like a ban by the wall before Discord."""
        self._add(Order(route, times, retry_after=retry_after, via=via, whole=whole))

    def drop(self, route: str, *, times: int = 1, after_work: bool = False) -> None:
        """The next requests' connections break without an answer."""
        self._add(Order(route, times, dropped=True, after_work=after_work))

    def refuse(self, route: str, code: int, *, times: int = 1) -> None:
        """The next requests are refused with one of the codes in `refusals.py`."""
        self._add(Order(route, times, code=code))

    def meanwhile(self, route: str, action: Callable[[], object]) -> None:
        """Do `action` when the next request has come in, before Discord looks at it: a webhook vanishes just then."""
        self._add(Order(route, 1, meanwhile=action))

    def forget(self) -> None:
        """Take back every order that no request has met yet."""
        self._orders.clear()

    @property
    def open(self) -> list[Order]:
        """Orders that no request has met yet."""
        return list(self._orders)

    def take(self, route: str) -> Order | None:
        """The misfortune for a request to `route` that has just come in."""
        for index, order in enumerate(self._orders):
            if order.route == route:
                if order.times > 1:
                    self._orders[index] = replace(order, times=order.times - 1)
                else:
                    del self._orders[index]
                return order
        return None

    def _add(self, order: Order) -> None:
        known(order.route)
        self._orders.append(order)
