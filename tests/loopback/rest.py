"""The HTTP side: parse a request, apply faults and limits, call the route, write the answer."""

from __future__ import annotations

import asyncio
import json
import re
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .refusals import NO_SUCH_ADDRESS, WRONG_TOKEN, Refusal
from .router import Answer, Call, Route, Upload, find

if TYPE_CHECKING:
    from .faults import Faults, Order
    from .openapi import Description
    from .rates import Rates
    from .refusals import BadField
    from .world import World

API = re.compile(r"^/api(/v\d+)?(?=/)")
UPLOAD = re.compile(r"files\[(\d+)\]")
TRANSPARENT_DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f000105010127"
    "18e3660000000049454e44ae426082"
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A request that a correct client never sends."""

    request: str  # "POST /channels/1/messages"
    code: int
    text: str
    faults: tuple[BadField, ...]
    body: Any


@dataclass(slots=True)
class RecordedRequest:
    """A request and its answer. The status is 0 until it is answered."""

    route: str
    method: str
    path: str
    body: Any
    at: float
    status: int = 0
    code: int | None = None


@dataclass(slots=True, repr=False)
class Rest:
    """Answers requests to discord.com and the CDN."""

    world: World
    token: str
    faults: Faults
    rates: Rates
    description: Description | None
    seen: list[RecordedRequest] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)  # the paths that were requested from the CDN
    violations: list[Violation] = field(default_factory=list)
    checks_answers: bool = (
        False  # also check the loopback's answers against the description, for its own tests
    )
    deviations: list[str] = field(default_factory=list)
    down: bool = False  # break every connection without an answer

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer any request."""
        if request.host.startswith(("cdn.", "media.")):
            return self._file(request.path)
        path = API.sub("", request.path)
        found = find(request.method, path, self.world.bot.id)
        record = RecordedRequest(
            found[0].name if found else "", request.method, path, None, self.world.clock.now()
        )
        self.seen.append(record)
        headers: dict[str, str] = {}
        try:
            if found is None:
                raise Refusal(NO_SUCH_ADDRESS)
            response = await self._serve(request, *found, record, headers)
        except Refusal as refusal:
            response = self._refuse(refusal, record)
        except (KeyError, TypeError, ValueError, AttributeError, AssertionError):
            response = self._report_crash(record)
        response.headers.update(headers)
        record.status = response.status
        return response

    async def _serve(
        self,
        request: web.Request,
        route: Route,
        ids: dict[str, str],
        record: RecordedRequest,
        headers: dict[str, str],
    ) -> web.Response:
        body, uploads = await _read(request)
        record.body = body
        if self.down:
            return _break_connection(request)
        order = self.faults.take(route.name)
        if order and order.meanwhile:
            order.meanwhile()
        if order and order.seconds:
            await asyncio.sleep(order.seconds)
        if order and not order.after_work and (failure := _failure(order, request)):
            return failure
        if route.needs_token and request.headers.get("Authorization") != f"Bot {self.token}":
            raise Refusal(WRONG_TOKEN)
        counted, too_early = self.rates.count(route.name, ids)
        headers |= counted
        if route.name == "execute_webhook" and (
            webhook := self.world.webhooks.get(int(ids["webhook_id"]))
        ):
            too_early = self.rates.too_many_webhooks(webhook.channel.id) or too_early
        if too_early is not None:
            return _rate_limit_answer(too_early)
        answer = self._work(route, ids, request, body, uploads)
        if order and order.after_work and (failure := _failure(order, request)):
            return failure
        return web.Response(status=204) if answer is None else _json(answer, route.status)

    def _work(
        self,
        route: Route,
        ids: dict[str, str],
        request: web.Request,
        body: Any,
        uploads: list[Upload],
    ) -> Answer:
        if self.description and body is not None:
            self.description.check(route, body)
        items = body if isinstance(body, list) else []
        call = Call(
            self.world,
            route,
            ids,
            request.query,
            body if isinstance(body, dict) else {},
            items,
            uploads,
        )
        answer = route.handler(call)
        if self.description and self.checks_answers:
            self.deviations += self.description.deviations(route, answer)
        return answer

    def _refuse(self, refusal: Refusal, record: RecordedRequest) -> web.Response:
        record.code = refusal.code
        if refusal.mistake:
            said = f"{record.method} {record.path}"
            self.violations.append(
                Violation(said, refusal.code, str(refusal), refusal.faults, record.body)
            )
        return _json(refusal.payload(), refusal.status)

    def _report_crash(self, record: RecordedRequest) -> web.Response:
        """Report a body that crashed a route, or a fault of the loopback itself, as a violation."""
        said = f"{record.method} {record.path}"
        trouble = traceback.format_exc(limit=-3)
        self.violations.append(Violation(said, 50035, trouble, (), record.body))
        return _json(Refusal(50035).payload(), 400)

    def _file(self, path: str) -> web.Response:
        """Return a file of the CDN: an attachment, or a dot for every avatar."""
        self.fetched.append(path)
        for attachment_id, content in self.world.files.items():
            if f"/{attachment_id}/" in path:
                return web.Response(body=content)
        return web.Response(body=TRANSPARENT_DOT, content_type="image/png")


async def _read(request: web.Request) -> tuple[Any, list[Upload]]:
    """Return the JSON of a request, or None, and its files."""
    if request.content_type.startswith("multipart/"):
        return await _read_form(request)
    raw = await request.read()
    if not raw:
        return None, []
    try:
        return json.loads(raw), []
    except ValueError:
        raise Refusal(50109) from None


async def _read_form(request: web.Request) -> tuple[Any, list[Upload]]:
    form = await request.post()
    uploads: list[Upload] = []
    plain: dict[str, Any] = {}
    for name, value in form.items():
        match = UPLOAD.match(name)
        if match and isinstance(value, web.FileField):
            uploads.append(Upload(int(match[1]), value.filename, value.file.read()))
        elif isinstance(value, str):
            plain[name] = value
    return json.loads(plain["payload_json"]) if "payload_json" in plain else plain, uploads


def _failure(order: Order, request: web.Request) -> web.Response | None:
    if order.code is not None:
        refusal = Refusal(order.code)
        refusal.mistake = False  # ordered by the test, not caused by the client
        raise refusal
    if order.retry_after is not None:
        return _rate_limit_answer(order.retry_after, via=order.via, every_route=order.every_route)
    if order.dropped:
        return _break_connection(request)
    return web.Response(status=order.status, text="upstream error") if order.status else None


def _break_connection(request: web.Request) -> web.Response:
    if request.transport:
        request.transport.abort()
    return web.Response()


def _rate_limit_answer(
    retry_after: float, *, via: bool = True, every_route: bool = False
) -> web.Response:
    body = {
        "message": "You are being rate limited.",
        "retry_after": round(retry_after, 3),
        "global": every_route,
    }
    response = _json(body, 429)
    response.headers["Retry-After"] = str(retry_after)
    if via:
        response.headers["Via"] = "1.1 google"
        response.headers["X-RateLimit-Scope"] = "global" if every_route else "user"
    return response


def _json(answer: Any, status: int) -> web.Response:
    # discord.py parses a body as JSON only if the type is exactly this, without a charset
    body = json.dumps(answer).encode()
    return web.Response(body=body, status=status, headers={"Content-Type": "application/json"})
