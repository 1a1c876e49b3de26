"""Workers that ask each other, without a word to the scheduler or the client.

A worker answers for the states it holds, by the run and epoch that they belong to; in one process several workers may
live, each with states of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from distributed import Worker, get_worker
from distributed.protocol.serialize import to_serialize

from c45gpu.dask.faults import Lost

HANDLER = "c45gpu_ask"


class Place(NamedTuple):
    """What a state is kept by.

    Attributes
    ----------
    run : str
    epoch : int
    """

    run: str
    epoch: int


LOOK_SECONDS = 0.2  # between two looks at whether a run goes on, while another worker is waited for

_GIVEN_UP: dict[tuple[str, str], int] = {}  # by worker and run: the last epoch that nobody waits for any more
_STATES: dict[tuple[str, str], tuple[int, Any]] = {}  # by worker and run: the epoch, and what is held


def keep(place: Place, state: Any) -> None:
    """Hold a state on this worker, in the place of an older one of the run, and answer for it."""
    worker = get_worker()
    forget(place.run)
    _STATES[worker.address, place.run] = (place.epoch, state)
    worker.handlers[HANDLER] = _answering(worker.address)


def forget(run: str, address: str | None = None) -> None:
    """Let go of what a worker holds of a run, this one if none is named."""
    _, state = _STATES.pop((address or get_worker().address, run), (0, None))
    if state is not None:
        state.close()


def give_up(place: Place, dask_worker: Worker | None = None) -> None:
    """End what this worker does for an epoch; called beside its tasks, which may wait for a worker that is lost."""
    assert dask_worker is not None
    _GIVEN_UP[dask_worker.address, place.run] = place.epoch
    epoch, state = _STATES.get((dask_worker.address, place.run), (-1, None))
    if state is not None and epoch <= place.epoch:
        state.fail()


def held(place: Place, address: str | None = None) -> Any:
    """The state on a worker, this one if none is named.

    Raises
    ------
    Lost
        When it is not there, or of another epoch.
    """
    address = address or get_worker().address
    epoch, state = _STATES.get((address, place.run), (-1, None))
    if state is None or epoch != place.epoch:
        raise Lost(f"worker {address} has lost its share: it was started anew")
    return state


def ask(place: Place, method: str, asked: Iterable[tuple[str, tuple[Any, ...]]], seconds: float) -> list[Any]:
    """What a method of the states on several workers returns, all of which are asked at once.

    Parameters
    ----------
    place : Place
    method : str
    asked : iterable of (str, tuple)
        Addresses, and what each is asked with.
    seconds : float
        How long they may take.

    Raises
    ------
    Lost
        When a worker cannot be reached, does not answer in time, or has no such state.
    """
    worker, answers = get_worker(), dict[int, Any]()
    loop, asked = worker.loop.asyncio_loop, list(asked)
    waiting = {
        i: asyncio.run_coroutine_threadsafe(_asked(worker, address, place, method, arguments, seconds), loop)
        for i, (address, arguments) in enumerate(asked)
        if address != worker.address
    }
    try:
        answers |= {i: getattr(held(place), method)(*asked[i][1]) for i in range(len(asked)) if i not in waiting}
        for i, answer in waiting.items():
            try:
                answers[i] = answer.result()
            except (OSError, TimeoutError) as error:
                raise Lost(f"worker {asked[i][0]} did not answer: {error or type(error).__name__}") from error
    finally:
        for answer in waiting.values():
            answer.cancel()
    return [answers[i] for i in range(len(asked))]


async def _asked(
    worker: Worker, address: str, place: Place, method: str, arguments: tuple[Any, ...], seconds: float
) -> Any:
    message = {"run": place.run, "epoch": place.epoch, "method": method, "arguments": to_serialize(arguments)}
    asking = asyncio.ensure_future(getattr(worker.rpc(address), HANDLER)(**message))
    stop = time.monotonic() + seconds
    try:
        while not (await asyncio.wait([asking], timeout=LOOK_SECONDS))[0]:
            if _GIVEN_UP.get((worker.address, place.run), -1) >= place.epoch or time.monotonic() > stop:
                raise Lost(f"worker {address} did not answer")
        return asking.result()["answer"]
    finally:
        asking.cancel()


def _answering(address: str) -> Callable[..., Awaitable[dict[str, Any]]]:
    async def answer(run: str, epoch: int, method: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
        state = held(Place(run, epoch), address)
        return {"answer": to_serialize(await asyncio.to_thread(getattr(state, method), *arguments))}

    return answer
