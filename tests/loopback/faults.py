"""Faults that a test orders for the next requests to a route."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .router import require_route

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Order:
    """One kind of fault for the next `times` requests to one route."""

    route: str
    times: int
    seconds: float = 0.0  # delay before everything else
    status: int | None = None  # sent instead of the answer, or after the work
    code: int | None = None  # one of Discord's refusals
    retry_after: float | None = None  # answer 429
    via: bool = True  # whether the 429 comes from Discord itself and not from Cloudflare
    every_route: bool = False  # whether the 429 holds for every route
    dropped: bool = False  # break the connection without an answer
    meanwhile: Callable[[], object] | None = (
        None  # called when the request has arrived, before everything else
    )
    after_work: bool = False  # do the work, and fail afterwards


class Faults:
    """The ordered faults of each route, first in, first out."""

    def __init__(self) -> None:
        self._orders: list[Order] = []

    def slow(self, route: str, seconds: float, *, times: int = 1) -> None:
        """Delay the next requests by `seconds`, then answer them normally."""
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
        """Answer the next requests with 500, 502 and so on.

        With `after_work`, do the work first.
        """
        self._add(Order(route, times, seconds, status, after_work=after_work))

    def rate_limit(
        self,
        route: str,
        retry_after: float,
        *,
        times: int = 1,
        via: bool = True,
        every_route: bool = False,
    ) -> None:
        """Answer the next requests with 429. Without `via` it looks like a ban by Cloudflare."""
        self._add(Order(route, times, retry_after=retry_after, via=via, every_route=every_route))

    def drop(self, route: str, *, times: int = 1, after_work: bool = False) -> None:
        """Break the connections of the next requests without an answer."""
        self._add(Order(route, times, dropped=True, after_work=after_work))

    def refuse(self, route: str, code: int, *, times: int = 1) -> None:
        """Refuse the next requests with one of the codes in `refusals.py`."""
        self._add(Order(route, times, code=code))

    def meanwhile(self, route: str, action: Callable[[], object]) -> None:
        """Call `action` when the next request has arrived, before Discord handles it."""
        self._add(Order(route, 1, meanwhile=action))

    def forget(self) -> None:
        """Cancel every fault that no request has met yet."""
        self._orders.clear()

    @property
    def open(self) -> list[Order]:
        """Return the faults that no request has met yet."""
        return list(self._orders)

    def take(self, route: str) -> Order | None:
        """Take and return the next fault for a request to `route`."""
        for index, order in enumerate(self._orders):
            if order.route == route:
                if order.times > 1:
                    self._orders[index] = replace(order, times=order.times - 1)
                else:
                    del self._orders[index]
                return order
        return None

    def _add(self, order: Order) -> None:
        require_route(order.route)
        self._orders.append(order)
