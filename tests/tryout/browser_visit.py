"""The actions of a newcomer on the page, with mouse and keyboard."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.tryout.chromium import Page

WINDOW = "#windows iframe.shown"
PICKER = "document.defaultView.simcordPreview.commandPicker"
BOX = "#channel-composer-input"
REPLY_PATIENCE = 90.0  # seconds for a reply on a busy machine


@dataclass(frozen=True)
class Newcomer:
    """A person at the page."""

    page: Page

    async def arrive(self, address: str) -> None:
        """Open the page and wait until the channel accepts messages."""
        await self.page.open(address)
        await self._ready()

    async def become(self, person: str) -> None:
        """Switch to another person."""
        await self.page.click(f"#people [data-person={person}]")
        await self.page.until(
            f"document.querySelector('#people [data-person={person}]').ariaChecked === 'true'"
        )
        await self._ready()

    async def go_to(self, place: str) -> None:
        """Open a place by its name."""
        buttons = "[...document.querySelectorAll('.side li button')]"
        name = f"{buttons}.find((one) => one.innerText.includes('{place}'))"
        await self.page.until(f"({name}?.click(), {name})?.getAttribute('aria-current')")
        await self._ready()

    async def says(self, text: str) -> None:
        """Send a message in the open channel."""
        await self.page.click(BOX, within=WINDOW)
        await self.page.write(text)
        await self.page.press("Enter")
        await self.page.until(f"document.querySelector('{BOX}')?.value === ''", within=WINDOW)

    async def commands(self, command: str, *, choice: str | None = None) -> None:
        """Choose a slash command in the picker. Type `choice` and take the suggestion."""
        await self.page.click(BOX, within=WINDOW)
        await self.page.write(f"/{command}")
        await self.page.until(_offered(f"/{command}"), within=WINDOW)
        await self.page.press("Enter")
        await self.page.until(
            "document.querySelector('.command-row')?.checkVisibility()", within=WINDOW
        )
        if choice is not None:
            await self.page.write(choice)
            await self.page.until(
                f"{PICKER}.autocomplete.state !== 'loading' && {_offered(choice)}", within=WINDOW
            )
            await self.page.press("Enter")
        await self.page.press("Enter")
        await self._ready()

    async def reads(self, text: str, *, patience: float = REPLY_PATIENCE) -> None:
        """Wait until the window shows this text."""
        await self.page.reads(text, within=WINDOW, patience=patience)

    async def uncovers(self, text: str) -> None:
        """Click the last spoiler bar until it shows this text. An edit hides the text again."""
        spoiler = "[...document.querySelectorAll('.markdown-spoiler')].at(-1)"
        uncovered = f"{spoiler}.innerText.includes('{text}')"
        await self.page.until(f"{spoiler} && !{uncovered}", within=WINDOW)
        for _ in range(3):
            await self.page.click(".markdown-spoiler", within=WINDOW)
            with contextlib.suppress(AssertionError):
                await self.page.until(uncovered, within=WINDOW, patience=5)
                return
        await self.page.until(uncovered, within=WINDOW)

    async def _ready(self) -> None:
        seen = f"document.querySelector('{BOX}')?.checkVisibility()"
        await self.page.until(
            f"document.defaultView.simcordPreview?.ready && {seen}", within=WINDOW
        )


def _offered(text: str) -> str:
    found = "[...document.querySelectorAll('.command-entry, .command-suggestion')]"
    return f"{found}.some((one) => one.checkVisibility() && one.innerText.includes({text!r}))"
