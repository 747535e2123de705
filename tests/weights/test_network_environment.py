"""Mistakes in the hub's address and in proxy variables are named before any connection."""

from __future__ import annotations

import importlib.util

import pytest

from bot.errors import UserInputError
from bot.weights.hub import Hub

PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.skipif(
    importlib.util.find_spec("socksio") is not None, reason="the package for SOCKS is installed"
)
@pytest.mark.parametrize("name", ["ALL_PROXY", "https_proxy", "HTTP_PROXY"])
@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "SOCKS5"])
def test_a_socks_proxy_names_the_missing_package(
    name: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, f"{scheme}://me:hush@127.0.0.1:9")
    with pytest.raises(UserInputError, match=rf"{name.upper()} .*pip install socksio") as caught:
        Hub()
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("address", ["socks4://127.0.0.1:9", "ftp://a", "foo://127.0.0.1:9"])
def test_an_unknown_kind_of_proxy_is_rejected(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(UserInputError, match="HTTPS_PROXY has an unknown scheme"):
        Hub()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9", "127.0.0.1:9", "https://me:hush@proxy.lan:1"]
)
def test_http_proxies_are_accepted(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    Hub()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("hf-mirror.com", "not a web address"),
        ("127.0.0.1:9", "not a web address"),
        ("ftp://hf-mirror.com", "not a web address"),
        ("https://huggingface.co/Qwen/Qwen3-8B", "the address of a page"),
        ("https://huggingface.co/Qwen/Qwen3-8B/blob/main/x.gguf", "the address of a page"),
    ],
)
def test_a_wrong_address_of_the_hub_is_rejected(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", address)
    with pytest.raises(UserInputError, match=f"HF_ENDPOINT is {message}"):
        Hub()
