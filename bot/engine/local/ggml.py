"""Functions of ggml's that llama-cpp-python has no binding for.

They are looked up through libllama, which brings the one libggml that it uses itself. `llama_cpp._ggml` loads another
copy (a wheel has no symbolic links), whose list of devices llama.cpp never sees.
"""

from __future__ import annotations

from typing import Any

from llama_cpp.llama_cpp import _lib


def function(name: str, result: Any, *arguments: Any) -> Any:
    """Return ggml's function `name` with its ctypes types. Raises AttributeError where the build has none."""
    found = getattr(_lib, name)
    found.restype, found.argtypes = result, list(arguments)
    return found
