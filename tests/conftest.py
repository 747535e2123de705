"""Ctrl-C is part of what is tested.

A shell without job control has programs in its background ignore it, and so do all that those start: here it works
again, wherever the tests are run from.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
