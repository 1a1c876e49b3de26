"""Files that the commands write."""

from __future__ import annotations

from c45gpu.errors import DataError


def write(content: bytes, path: str) -> None:
    """Write a file that appears when it is complete.

    Raises
    ------
    DataError
        When it cannot be written.
    """
    from c45gpu.data.wholefile import write_whole

    try:
        write_whole(content, path)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise DataError(f"cannot be written ({reason}): choose a place with room where you may write", path) from fault
