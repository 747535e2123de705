"""The proxy bots of each server."""

from __future__ import annotations

from bot.store.repository import Repository


class ServerProxyRepository(Repository):
    """Stores in which way a server's proxy bots differ from the default."""

    async def proxy_choices(self, guild_id: int) -> dict[int, bool]:
        """Return the applications that a server allowed or excluded, and which of both."""
        async with self._database.read() as reading:
            rows = await reading.rows(
                "SELECT application_id, allowed FROM server_proxies WHERE guild_id = ?", guild_id
            )
        return {row["application_id"]: bool(row["allowed"]) for row in rows}

    async def choose_proxy(self, guild_id: int, application_id: int, *, allowed: bool) -> None:
        """Store that an application counts as a proxy bot on a server, or does not."""
        async with self._database.transaction() as transaction:
            await transaction.execute(
                "INSERT OR REPLACE INTO server_proxies (guild_id, application_id, allowed)"
                " VALUES (?, ?, ?)",
                guild_id,
                application_id,
                allowed,
            )
