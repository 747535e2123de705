"""The worker process: owns llama.cpp, takes commands on standard input, tells events on standard output.

It lives no longer than the bot: the end of standard input ends it, and on Linux the kernel does.
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

_BEAT_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1
_FAILED = 70


class Worker:
    """One worker: a thread that reads commands, one that beats, and the loop that writes replies."""

    def __init__(self, commands: BinaryIO, events: BinaryIO) -> None:
        self._commands = commands
        self._events = events
        self._writing = threading.Lock()
        self._inbox: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._step_began: float | None = None

    def run(self) -> None:
        """Serve until the bot is gone."""
        threading.Thread(target=self._beat, daemon=True).start()
        first = read_command(self._commands)
        if not isinstance(first, Load):
            return
        threading.Thread(target=self._listen, daemon=True).start()
        model, batch = self._load(first)
        while True:
            self._obey(model, batch)
            if not batch.idle:
                self._step_began = time.monotonic()
                batch.step()
                self._step_began = None

    def _load(self, order: Load) -> tuple[Model, Batch]:
        # Imported late: a library that can't be loaded is a failure to be told.
        try:
            from bot.engine.local.batch import Batch
            from bot.engine.local.llama import LoadError
            from bot.engine.local.llama_log import LlamaLog
            from bot.engine.local.model_loader import ModelLoader
            from bot.engine.local.slots import Slots
        except (ImportError, OSError, RuntimeError) as error:
            self._give_up(
                "start", f"llama.cpp can't be loaded ({error}): reinstall llama-cpp-python."
            )
        chatter = LlamaLog()
        try:
            model, context, ready = ModelLoader(order, chatter).load()
        except ModelFileError as error:
            self._give_up("file", str(error))
        except (EngineStartError, UserInputError) as error:
            self._give_up("start", str(error))
        except LoadError as error:
            self._give_up("start", f"{error}; its own words are in the log at level DEBUG.")
        self._chatter = chatter
        self._tell(ready)
        return model, Batch(
            model, context, Slots(context, ready.minds, order.host_memory), self._tell
        )

    def _obey(self, model: Model, batch: Batch) -> None:
        """Take all commands there are; wait for one where there is nothing else to do."""
        while batch.idle or not self._inbox.empty():
            match command := self._inbox.get():
                case Generate():
                    batch.take(command)
                case Cancel():
                    batch.cancel(command)
                case Prefetch():
                    batch.prefetch(command)
                case Count():
                    self._tell(Counted(id=command.id, tokens=len(model.tokenize(command.parts))))
                case Load():
                    self._tell(Failed(id=0, fault="other", text="The worker has a model already."))

    def _listen(self) -> NoReturn:
        while command := read_command(self._commands):
            self._inbox.put(command)
        os._exit(0)  # the bot is gone, or has closed its end

    def _beat(self) -> NoReturn:
        while True:
            began = self._step_began
            self._tell(Heartbeat(step_seconds=time.monotonic() - began if began else 0.0))
            time.sleep(_BEAT_SECONDS)

    def _tell(self, *events: Event) -> None:
        frames = b"".join(map(pack, events))
        try:
            with self._writing:
                self._events.write(frames)
                self._events.flush()
        except OSError:
            os._exit(0)  # nobody listens any more

    def _give_up(self, fault: str, text: str) -> NoReturn:
        self._tell(LoadFailed.model_validate({"fault": fault, "text": text}))
        os._exit(_FAILED)


def main(arguments: list[str]) -> None:
    """Run the worker of the bot whose process id is the one argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the bot's to act on
    _die_with(int(arguments[0]))
    # Frames get a descriptor of their own, so that nothing a library prints can fall between them.
    events = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        Worker(sys.stdin.buffer, events).run()
    except (
        BaseException
    ):  # whatever it is: told on standard error, and the supervisor starts a new worker
        traceback.print_exc()
    os._exit(_FAILED)  # the threads don't outlive the loop


def _die_with(parent: int) -> None:
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
