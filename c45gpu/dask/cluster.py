"""The workers as the client sees them: asked to do a step together, within a time, and never waited for in vain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from dask.utils import typename
from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

from c45gpu.dask.faults import Lost
from c45gpu.errors import EngineError

AHEAD = 2  # things that a worker is given at a time, so that it need not wait for the next
LOOK_SECONDS = 0.5  # between two looks at which workers are there, while a step takes its time


class Task(NamedTuple):
    """What one worker is to do.

    Attributes
    ----------
    worker : str
        Its address.
    function : callable
    arguments : tuple
        Futures among them are replaced by what they stand for, on the worker.
    """

    worker: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Cluster:
    """The workers of a client.

    Parameters
    ----------
    client : distributed.Client
    seconds : float
        How long a step may take. A worker that needs longer is given up, and taken off the cluster.
    """

    def __init__(self, client: Client, seconds: float) -> None:
        if client.asynchronous:
            raise EngineError("an asynchronous client cannot wait for its workers: give one made without asynchronous")
        self.client, self.seconds = client, seconds
        # Futures of the last step, let go when the next has been sent: after a message, as one that releases them, a
        # client sends nothing for ten milliseconds, for which the next step would wait.
        self._spent: list[Any] = []

    def workers(self) -> dict[str, int]:
        """The workers that are there, by address, with the threads that each has.

        Raises
        ------
        EngineError
            When none is there, nor comes in time.
        """
        stop = time.monotonic() + self.seconds
        while not (found := dict(sorted(self.client.nthreads().items()))):
            if time.monotonic() > stop:
                raise EngineError(f"no worker of the cluster is left, and none came within {self.seconds:g} seconds")
            time.sleep(LOOK_SECONDS)
        return found

    def holders(self, futures: list[Future[Any]]) -> list[tuple[str, ...]]:
        """For each future the workers that hold its result."""
        found = self.client.who_has(futures)
        return [tuple(sorted(found.get(future.key, ()))) for future in futures]

    def submit(self, function: Callable[..., Any], *arguments: Any, near: Iterable[str] = ()) -> Future[Any]:
        """Have any worker do something, best one of those named.

        Those that have the arguments should be: Dask takes a table for little, and may rather send it elsewhere.
        """
        near = list(near)
        if not near:
            return self.client.submit(function, *arguments, pure=False)
        return self.client.submit(function, *arguments, workers=near, allow_other_workers=True, pure=False)

    def step(self, tasks: Iterable[Task]) -> list[Any]:
        """Have several workers do something, and return their results.

        Raises
        ------
        Lost
            When a worker does not come to an end.
        EngineError
            When arguments were lost that nobody can compute again.
        """
        tasks = list(tasks)
        futures = [self._sent(task) for task in tasks]
        self._spent = []
        try:
            self._wait(futures, [task.worker for task in tasks])
            self._raise_first(futures)
            results = self._results(futures, [task.worker for task in tasks])
        except BaseException:
            for future in futures:
                future.release()
            raise
        self._spent = [futures, tasks]
        return results

    def handed_out(
        self, workers: Iterable[str], function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """Have any workers do things, each the next one when it is done with one; yields results as they come.

        Raises
        ------
        Lost
            When a worker does not come to an end.
        """
        waiting, sent = iter(tasks), dict[Future[Any], str]()

        def send(worker: str) -> None:
            for arguments in islice(waiting, 1):
                sent[self._sent(Task(worker, function, arguments))] = worker

        try:
            for worker in list(workers) * AHEAD:
                send(worker)
            while sent:
                self._wait(list(sent), list(sent.values()), "FIRST_COMPLETED")
                self._raise_first(list(sent))
                done = [future for future in sent if future.status != "pending"]
                if not done:
                    raise Lost("a worker did not answer in time")
                for future in done:
                    send(worker := sent[future])
                    result = self._result(future, worker)
                    del sent[future]
                    future.release()
                    yield result
        finally:
            for future in sent:
                future.release()

    def _sent(self, task: Task) -> Future[Any]:
        return self.client.submit(
            task.function, *task.arguments, workers=[task.worker], allow_other_workers=False, pure=False
        )

    def collected(self, futures: list[Future[Any]]) -> list[Any]:
        """The results of what any worker did; what is lost with a worker is done again by another.

        Raises
        ------
        EngineError
            When that takes too long.
        """
        stop = time.monotonic() + self.seconds
        while True:
            self._wait(futures, [])
            try:
                results = self._results(futures, [None] * len(futures))
                self._spent = futures
                return results
            except Lost as lost:
                if time.monotonic() > stop:
                    raise EngineError(f"{lost}, for {self.seconds:g} seconds: look after the workers") from lost
                self.retry(futures)

    def retry(self, futures: list[Future[Any]]) -> None:
        """Have done again what failed, as where workers died over it."""
        failed = [future for future in futures if future.status == "error"]
        if failed:
            self.client.retry(failed)

    def _wait(self, futures: list[Future[Any]], workers: list[str], until: str = "ALL_COMPLETED") -> None:
        """Wait until all is done, or the first of it, or will not be."""
        stop = time.monotonic() + self.seconds
        enough = any if until == "ALL_COMPLETED" else all
        while enough(future.status == "pending" for future in futures):
            try:
                with self.client.as_current():  # there may be no default client, or another one
                    wait(futures, timeout=LOOK_SECONDS, return_when=until)
                return
            except TimeoutError:
                pass
            except CancelledError:
                return
            there = self.client.nthreads()
            waiting = {w for w, future in zip(workers, futures, strict=False) if future.status == "pending"}
            failed = any(future.status == "error" for future in futures)
            if waiting - set(there) or (failed and not waiting & set(there)):
                return
            if time.monotonic() > stop:
                for address in waiting:
                    self._give_up(address)
                return

    def tell_all(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Have a function called on every worker at once, beside its tasks."""
        self.client.run(function, *arguments, on_error="ignore")

    def _raise_first(self, futures: list[Future[Any]]) -> None:
        """Raise what a worker found wrong, rather than that others waited for it in vain."""
        for future in futures:
            if future.status == "error":
                error = future.exception(timeout=self.seconds)
                if not isinstance(error, Lost | KilledWorker | TimeoutError | OSError):
                    raise error

    def _give_up(self, address: str) -> None:
        """Take a worker that does not answer off the cluster; what it held is computed again where that can be."""

        async def remove(dask_scheduler: Any) -> None:
            await dask_scheduler.remove_worker(address, stimulus_id="c45gpu-no-answer", expected=False)

        self.client.run_on_scheduler(remove)

    def _results(self, futures: list[Future[Any]], workers: Sequence[str | None]) -> list[Any]:
        """What futures that are done stand for, fetched all at once if nothing is wrong."""
        if all(future.status == "finished" for future in futures):
            at_once = partial(self.client.gather, futures, asynchronous=True)
            with suppress(TimeoutError, KilledWorker, CancelledError, OSError):
                found: list[Any] = self.client.sync(at_once, callback_timeout=LOOK_SECONDS)
                return found
        return [self._result(future, worker) for future, worker in zip(futures, workers, strict=True)]

    def _result(self, future: Future[Any], worker: str | None = None) -> Any:
        """What a future that is done stands for; the worker that has it may die meanwhile."""
        patience = LOOK_SECONDS
        while future.status not in ("pending", "lost"):
            try:
                return self._fetched(future, patience)
            except TimeoutError:
                patience *= 2
                if patience > self.seconds or (worker is not None and worker not in self.client.nthreads()):
                    break
        raise Lost("a worker died or did not answer in time")

    def _fetched(self, future: Future[Any], seconds: float) -> Any:
        try:
            return future.result(timeout=seconds)
        except TimeoutError:
            raise
        except (KilledWorker, OSError) as error:
            raise Lost(f"a worker died: {typename(type(error))}") from error
        except CancelledError as error:
            raise EngineError(
                "rows were lost with the worker that held them, and Dask cannot compute them again: load them with "
                "Dask, or keep them on several workers (client.replicate)"
            ) from error
