"""Access to ggml functions for which llama-cpp-python has no binding.

They are looked up in libllama, which links the copy of libggml that it uses. `llama_cpp._ggml`
loads a second copy (a wheel has no symbolic links), and llama.cpp never sees its devices.
"""

from __future__ import annotations

from typing import Any

from llama_cpp.llama_cpp import _lib


def get_function(name: str, result: Any, *arguments: Any) -> Any:
    """Return the ggml function `name` with its ctypes types.

    Raises AttributeError if the build does not have it.
    """
    function = getattr(_lib, name)
    function.restype = result
    function.argtypes = list(arguments)
    return function
