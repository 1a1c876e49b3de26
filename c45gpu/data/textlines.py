"""Texts that are written line by line, compressed or not; they appear when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from c45gpu.data.tokens import FilePath
from c45gpu.data.wholefile import whole_file
from c45gpu.errors import DataError


@contextmanager
def whole_or_told(path: FilePath) -> Iterator[BinaryIO]:
    """A file to be written whole, see :func:`~c45gpu.data.wholefile.whole_file`, where failing is told in a sentence.

    Raises
    ------
    DataError
        When the file cannot be written.
    """
    try:
        with whole_file(path) as stream:
            yield stream
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error}): check the folder and its room", path) from None


def put_lines(lines: Iterable[str], codec: str | None, stream: BinaryIO) -> None:
    """Write lines, each with a line feed behind it.

    Parameters
    ----------
    lines : iterable of str
    codec : str or None
        Arrow's name of how they are compressed.
    stream : binary file
        Stays open.
    """
    if codec is None:
        stream.writelines(f"{line}\n".encode() for line in lines)
        return
    import pyarrow as pa

    twin = open(os.dup(stream.fileno()), "wb")  # noqa: SIM115  # Arrow closes it, and the file is to stay open
    with pa.CompressedOutputStream(pa.PythonFile(twin, "w"), codec) as compressed:
        for line in lines:
            compressed.write(f"{line}\n".encode())
