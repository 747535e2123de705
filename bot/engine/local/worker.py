"""The worker process, which runs llama.cpp.

It reads commands from standard input and writes events to standard output. It exits when standard
input is closed. On Linux the kernel also kills it when the bot dies.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, NoReturn

from bot.engine.local.worker_messages import (
    Cancel,
    Count,
    Counted,
    Failed,
    Generate,
    Heartbeat,
    Load,
    LoadFailed,
    Prefetch,
    pack,
    read_command,
)
from bot.errors import EngineStartError, ModelFileError, UserInputError

if TYPE_CHECKING:
    from typing import BinaryIO

    from bot.engine.local.batch import Batch
    from bot.engine.local.llama import Model
    from bot.engine.local.worker_messages import Command, Event

_HEARTBEAT_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1
_EXIT_FAILURE = 70


class Worker:
    """A worker: the loop that generates replies, and threads for commands and heartbeats."""

    def __init__(self, commands: BinaryIO, events: BinaryIO) -> None:
        self._commands = commands
        self._events = events
        self._write_lock = threading.Lock()
        self._inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._step_started: float | None = None

    def run(self) -> None:
        """Serve commands until the bot exits."""
        threading.Thread(target=self._send_heartbeats, daemon=True).start()
        first = read_command(self._commands)
        if not isinstance(first, Load):
            return
        threading.Thread(target=self._read_commands, daemon=True).start()
        model, batch = self._load(first)
        while True:
            self._handle_commands(model, batch)
            if not batch.idle:
                self._step_started = time.monotonic()
                batch.step()
                self._step_started = None

    def _load(self, command: Load) -> tuple[Model, Batch]:
        # Imported here, so that a library that cannot be loaded is reported as an event.
        try:
            from bot.engine.local.batch import Batch
            from bot.engine.local.llama import LoadError
            from bot.engine.local.llama_log import LlamaLog
            from bot.engine.local.model_loader import ModelLoader
            from bot.engine.local.slots import Slots
        except (ImportError, OSError, RuntimeError) as error:
            self._fail_load(
                "start", f"llama.cpp cannot be loaded ({error}). Reinstall llama-cpp-python."
            )
        llama_log = LlamaLog()
        try:
            model, context, ready = ModelLoader(command, llama_log).load()
        except ModelFileError as error:
            self._fail_load("file", str(error))
        except (EngineStartError, UserInputError) as error:
            self._fail_load("start", str(error))
        except LoadError as error:
            self._fail_load("start", f"{error}. Its messages are in the log at level DEBUG.")
        self._emit(ready)
        slots = Slots(context, ready.minds, command.host_memory)
        return model, Batch(model, context, slots, self._emit)

    def _handle_commands(self, model: Model, batch: Batch) -> None:
        """Handle all waiting commands. Wait for one if the batch is idle."""
        while batch.idle or not self._inbox.empty():
            match command := self._inbox.get():
                case Generate():
                    batch.submit(command)
                case Cancel():
                    batch.cancel(command)
                case Prefetch():
                    batch.prefetch(command)
                case Count():
                    self._emit(Counted(id=command.id, tokens=len(model.tokenize(command.parts))))
                case Load():
                    self._emit(Failed(id=0, fault="other", text="A model is already loaded."))

    def _read_commands(self) -> NoReturn:
        while command := read_command(self._commands):
            self._inbox.put(command)
        os._exit(0)  # the bot has exited or closed its end

    def _send_heartbeats(self) -> NoReturn:
        while True:
            started = self._step_started
            self._emit(Heartbeat(step_seconds=time.monotonic() - started if started else 0.0))
            time.sleep(_HEARTBEAT_SECONDS)

    def _emit(self, *events: Event) -> None:
        frames = b"".join(map(pack, events))
        try:
            with self._write_lock:
                self._events.write(frames)
                self._events.flush()
        except OSError:
            os._exit(0)  # the bot has closed its end

    def _fail_load(self, fault: str, text: str) -> NoReturn:
        self._emit(LoadFailed.model_validate({"fault": fault, "text": text}))
        os._exit(_EXIT_FAILURE)


def main(arguments: list[str]) -> None:
    """Run a worker. The only argument is the process id of the bot."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the bot handles Ctrl-C in a terminal
    _exit_with_parent(int(arguments[0]))
    # Frames get a descriptor of their own, so that output of a library cannot get between them.
    events = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        Worker(sys.stdin.buffer, events).run()
    except BaseException:  # the supervisor logs standard error and starts a new worker
        traceback.print_exc()
    os._exit(_EXIT_FAILURE)  # without waiting for the threads


def _exit_with_parent(parent: int) -> None:
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
