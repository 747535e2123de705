"""Rate limits: the headers of every answer, and 429 for clients that ignore them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = {  # requests, seconds
    "create_message": (5, 5.0),
    "edit_message": (5, 5.0),
    "delete_message": (5, 1.0),
    "execute_webhook": (5, 2.0),
    "edit_webhook_message": (5, 2.0),
    "webhooks of a channel": (30, 60.0),  # undocumented, but many bots have met it
}
OTHERWISE = (50, 1.0)
MAJOR = ("channel_id", "guild_id", "webhook_id", "webhook_token", "interaction_token")


@dataclass(slots=True)
class Window:
    """The remaining requests of a bucket, and its end."""

    left: int
    ends: float


class Rates:
    """One window for each route and each channel, server or webhook.

    Unless `enforced` is set, the headers report an almost full bucket, so that tests run at
    full speed.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.enforced = False
        self._now = now
        self._windows: dict[tuple[str, ...], Window] = {}

    def too_many_webhooks(self, channel_id: int) -> float | None:
        """Count one message by any of a channel's webhooks.

        Return the seconds to wait if it is too early.
        """
        return self.count("webhooks of a channel", {"channel_id": str(channel_id)})[1]

    def count(self, route: str, ids: dict[str, str]) -> tuple[dict[str, str], float | None]:
        """Count one request. Return its headers, and the seconds to wait if it is too early."""
        limit, seconds = LIMITS.get(route, OTHERWISE)
        now = self._now()
        key = (route, *(ids[name] for name in MAJOR if name in ids))
        window = self._windows.get(key)
        if window is None or window.ends <= now or not self.enforced:
            window = self._windows[key] = Window(limit, now + seconds)
        too_early = window.left <= 0
        window.left = max(0, window.left - 1)
        left_for = window.ends - now
        headers = {
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(window.left),
            "X-RateLimit-Reset": f"{window.ends:.3f}",
            "X-RateLimit-Reset-After": f"{left_for:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(route.encode()).hexdigest()[:32],
        }
        return headers, left_for if too_early else None
