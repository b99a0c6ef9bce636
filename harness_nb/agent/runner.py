"""One private event loop in a daemon thread, so that blocking calls work in a cell, a script and a thread alike."""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import queue
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from harness_nb.errors import HarnessError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

POLL_SECONDS = 0.2
"""How often a waiting thread wakes, so that an interrupt is seen also where waits can't be interrupted."""

CLEAN_UP_SECONDS = 0.8
"""How long an interrupted call waits for the work to end in order."""


Work = Callable[[Callable[[T], None]], Coroutine[Any, Any, object]]
"""Work that emits values: called with a function that takes one, and awaited to its end."""


class CarriedInterrupt(Exception):  # noqa: N818 - an interrupt on its way, no error
    """An interrupt raised on the loop or in a tool, on its way to the caller: a KeyboardInterrupt would end the loop."""


class Job(Generic[T]):
    """Work on the loop, with its outcome in a future that any thread can wait for."""

    def __init__(
        self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, context: contextvars.Context
    ) -> None:
        self.future: Future[T] = Future()
        self.loop = loop
        self._work = work
        self._context = context
        self._task: asyncio.Task[T] | None = None

    def start(self) -> None:
        """Begins, on the loop."""
        self.future.set_running_or_notify_cancel()
        self._task = self.loop.create_task(_contained(self._work), context=self._context)
        self._task.add_done_callback(self._finish)

    def stop(self) -> None:
        """Cancels the work and waits a moment for it to end in order; a second interrupt does not wait."""
        self.loop.call_soon_threadsafe(self._cancel)
        with contextlib.suppress(BaseException):  # how work that was given up ended is not the caller's
            self.future.exception(CLEAN_UP_SECONDS)

    async def settled(self, seconds: float | None = None) -> bool:
        """Waits on any loop for the work to end; False when it takes longer. Neither end of the wait touches the work."""
        import asyncio

        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop that waited is closed
                loop.call_soon_threadsafe(ended.set)

        self.future.add_done_callback(tell)
        try:
            async with asyncio.timeout(seconds):
                await ended.wait()
        except TimeoutError:
            return False
        return True

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _finish(self, task: asyncio.Task[T]) -> None:
        error = CancelledError() if task.cancelled() else task.exception()
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(task.result())


class Runner:
    """The loop and its thread, made on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Job[T]:
        """Starts work on the loop, in the caller's context, so that what it prints belongs to the caller's cell.

        Raises:
            HarnessError: This Python has no threads, as in a browser.
        """
        if sys.platform == "emscripten":
            work.close()
            raise HarnessError(
                "This needs a thread, and Python in a browser has none.",
                "Use a kernel outside the browser; replay(..., model=None) and MemoryIndex work here, too.",
            )
        job = Job(work, self._running(), contextvars.copy_context())
        job.loop.call_soon_threadsafe(job.start)
        return job

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work to its end. An interrupt cancels it, waits a moment for it to end in order, and goes on.

        Raises:
            HarnessError: Called from inside the loop, where waiting would never end.
            KeyboardInterrupt: It was interrupted, here or on the loop.
        """
        self._refuse_inside(work)
        job = self.submit(work)
        try:
            while True:
                try:
                    return job.future.result(POLL_SECONDS)
                except TimeoutError:
                    if job.future.done():
                        raise
        except KeyboardInterrupt:
            job.stop()
            raise
        except CarriedInterrupt:
            raise KeyboardInterrupt from None

    def follow(self, work: Work[T]) -> Iterator[T]:
        """Runs work that emits values, and yields them in the calling thread.

        Closing the iterator, or an interrupt, cancels the work, and what it still emitted is yielded no more.

        Raises:
            HarnessError: Called from inside the loop, where waiting would never end.
            KeyboardInterrupt: It was interrupted, here or on the loop.
        """
        values: queue.SimpleQueue[T | _End] = queue.SimpleQueue()

        async def run() -> None:
            try:
                await work(values.put)
            finally:
                values.put(_END)

        coroutine = run()
        self._refuse_inside(coroutine)
        job = self.submit(coroutine)
        try:
            while True:
                try:
                    value = values.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                if isinstance(value, _End):
                    break
                yield value
            job.future.result()
        except (KeyboardInterrupt, GeneratorExit):
            job.stop()
            raise
        except CarriedInterrupt:
            raise KeyboardInterrupt from None

    def close(self) -> None:
        """Stops the loop; the next use starts another."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None and thread.is_alive():
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=2)

    def _running(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="harness_nb-loop", daemon=True)
                self._thread.start()
            return self._loop

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on the loop, where waiting for it would never end."""
        return threading.current_thread() is self._thread

    def _refuse_inside(self, work: Coroutine[Any, Any, Any]) -> None:
        if self.is_here:
            work.close()
            raise HarnessError(
                "A blocking call was made from inside the agent's own loop, where it would wait for ever.",
                "Use the async form with await: aask(), stream().",
            )


async def _contained(work: Awaitable[T]) -> T:
    """Awaits work whose interrupts must not end the loop."""
    try:
        return await work
    except (KeyboardInterrupt, SystemExit):
        raise CarriedInterrupt from None


async def streamed(work: Work[T]) -> AsyncGenerator[T]:
    """Runs work that emits values on the running loop, and yields them as they come.

    Closing the iterator cancels the work.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """
    import asyncio

    values: asyncio.Queue[T | _End] = asyncio.Queue()
    task = asyncio.ensure_future(_contained(work(values.put_nowait)))
    task.add_done_callback(lambda _: values.put_nowait(_END))
    try:
        while not isinstance(value := await values.get(), _End):
            yield value
        await task
    except CarriedInterrupt:
        raise KeyboardInterrupt from None
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


class _End:
    """Marks the end of the values."""


_END = _End()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


runner = Runner()
"""The one loop of this process."""

atexit.register(runner.close)
