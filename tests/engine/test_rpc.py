"""Lending of devices over RPC. To llama.cpp, an RPC server on loopback is a GPU."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bot.engine.local.local_engine import LocalEngine
from bot.engine.local.local_options import LocalOptions
from bot.engine.local.rpc import RpcAddress, check_lending, get_rpc_function
from bot.errors import EngineDied, EngineStartError, UserInputError
from bot.weights import gguf_reader
from bot.weights.find_model import find_model
from bot.weights.memory_plan import PlanRequest, make_plans
from tests.engine.sample_prompts import listen, request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.engine.protocol import Chunk


@asynccontextmanager
async def lender(
    port: int | None = None,
) -> AsyncGenerator[tuple[str, asyncio.subprocess.Process], None]:
    """Lend this machine's CPU on loopback."""
    address = f"127.0.0.1:{port or free_port()}"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "lend",
        "--address",
        address,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await wait_for_server(address)
        yield address, process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def borrowing_engine(address: str, **options: object) -> AsyncGenerator[LocalEngine, None]:
    defaults: dict[str, Any] = {
        "context": 256,
        "minds": 1,
        "threads": 1,
        "rpc": (address,),
        **options,
    }
    engine = LocalEngine(LocalOptions(**defaults))
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


@pytest.mark.model
@pytest.mark.parametrize(("asked", "layers"), [("all", 31), (12, 12)])
async def test_layers_are_offloaded_to_the_lent_device_as_planned(
    asked: int | str, layers: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "bot.engine.local.worker_handle")
    request_ = PlanRequest(context=2048, minds=4, cache_type="f16", gpu_layers=layers)
    (plan,) = make_plans(gguf_reader.check_model(find_model("demo").path), [2**34], None, request_)
    async with (
        lender() as (address, _),
        borrowing_engine(address, gpu_layers=asked, context=2048, minds=4) as engine,
    ):
        assert (engine.info.layers_offloaded, engine.info.layers) == (layers, 31)
        assert engine.info.device.startswith("RPC0")
        assert engine.info.warning is None
        assert (await listen(engine, request("Tell me about tea.", max_tokens=4)))[0]
        sizes = re.findall(
            r"RPC0\[.*\] +(?:model|KV|compute) buffer size = +([\d.]+) MiB", caplog.text
        )
    allocated = sum(map(float, sizes)) * 2**20
    assert len(sizes) == 3
    assert allocated <= plan.gpu_bytes <= 1.5 * allocated


@pytest.mark.model
async def test_a_device_that_disappears_during_a_reply_is_used_again_when_it_returns() -> None:
    async with (
        lender() as (address, machine),
        borrowing_engine(address, ready_within=8.0) as engine,
    ):
        stream = engine.generate(request("Tell me a long story.", max_tokens=200))
        assert (await anext(stream)).text
        machine.kill()
        with pytest.raises(EngineDied):
            await drain(stream)
        with pytest.raises(EngineDied, match="No machine lends its devices"):
            await listen(engine, request("Hello?"))
        async with lender(int(address.rpartition(":")[2])), asyncio.timeout(30):
            while True:
                try:
                    assert (await listen(engine, request("Hello?", max_tokens=4)))[0]
                    break
                except EngineDied:
                    await asyncio.sleep(0.2)


async def test_an_unreachable_lender_is_an_error_at_start() -> None:
    with pytest.raises(EngineStartError, match=r"No machine lends its devices at 127\.0\.0\.1"):
        async with borrowing_engine(f"127.0.0.1:{free_port()}"):
            pass


@pytest.mark.parametrize("text", ["", ":1", "host:", "host:0", "host:x", "host:65536"])
def test_an_invalid_address_is_an_error(text: str) -> None:
    with pytest.raises(UserInputError, match="host:port"):
        RpcAddress.parse(text)


def test_lending_to_a_network_needs_an_option_and_gives_a_warning() -> None:
    assert RpcAddress.parse("gpu-box") == RpcAddress("gpu-box", 50052)
    assert check_lending(RpcAddress.parse("127.0.0.1:1"), to_network=False) is None
    assert check_lending(RpcAddress.parse("localhost:1"), to_network=False) is None
    with pytest.raises(UserInputError, match="--to-network"):
        check_lending(RpcAddress.parse("0.0.0.0:1"), to_network=False)
    assert "Everyone" in (check_lending(RpcAddress.parse("192.168.1.5:1"), to_network=True) or "")


def test_a_build_without_rpc_is_an_error() -> None:
    with pytest.raises(EngineStartError, match="built without RPC"):
        get_rpc_function("ggml_backend_rpc_of_another_build", None)


async def drain(stream: AsyncGenerator[Chunk, None]) -> None:
    async for _ in stream:
        pass


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def wait_for_server(address: str) -> None:
    host, _, port = address.rpartition(":")
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    pytest.fail("the lender did not start")
