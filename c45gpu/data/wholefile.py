"""A file that is written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from c45gpu.data.tokens import FilePath


@contextmanager
def whole_file(path: FilePath) -> Iterator[BinaryIO]:
    """Write a file beside its place and move it there when it is complete; on any failure what was there stays.

    Parameters
    ----------
    path : str or os.PathLike
        A link is followed, not replaced.

    Yields
    ------
    binary file
        To be written to.

    Raises
    ------
    OSError
        When the place is not to be written to, or is full.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(draft, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, target)
    except BaseException:  # Ctrl-C too
        with suppress(OSError):
            draft.unlink()
        raise


def write_whole(content: bytes, path: FilePath) -> None:
    """Write a file at once, as :func:`whole_file` does.

    Parameters
    ----------
    content : bytes
    path : str or os.PathLike

    Raises
    ------
    OSError
        When the place is not to be written to, or is full.
    """
    with whole_file(path) as stream:
        stream.write(content)
