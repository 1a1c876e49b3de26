"""Texts that may be compressed, as the last suffix of their file says."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from c45gpu.data.tokens import FilePath, read_bytes, utf8, with_line_feeds
from c45gpu.errors import DataError

COMPRESSED: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}  # by suffix, Arrow's names for them


def codec_of(path: FilePath) -> str | None:
    """Arrow's name for how a file is compressed, None if it is not."""
    return COMPRESSED.get(Path(path).suffix.lower())


def without_codec(path: FilePath) -> str:
    """The name that a file has when it is decompressed."""
    return str(path).removesuffix(Path(path).suffix) if codec_of(path) else str(path)


def beside(stem: FilePath, suffix: str) -> str:
    """STEM with a suffix, plain or compressed: the one that exists; the plain one if none does."""
    plain = f"{stem}{suffix}"
    return next((name for name in (plain, *(plain + codec for codec in COMPRESSED)) if Path(name).exists()), plain)


def content_of(path: FilePath) -> bytes:
    """The bytes of a file, decompressed.

    Raises
    ------
    DataError
        When the file is missing, cannot be read, or is not compressed as its suffix says.
    """
    codec = codec_of(path)
    return read_bytes(path) if codec is None else _decompressed(path, codec)


def read_text(path: FilePath) -> bytes:
    """A text file, decompressed, as UTF-8 whose lines all end in a line feed."""
    return with_line_feeds(utf8(content_of(path), path))


def damaged(path: FilePath, codec: str) -> DataError:
    """The error of a file that does not decompress."""
    return DataError(f"is not a {codec} file, or is cut short: check the file", path)


def _decompressed(path: FilePath, codec: str) -> bytes:
    import pyarrow as pa  # here, for a .names file needs it seldom

    try:
        return bytes(pa.input_stream(pa.BufferReader(read_bytes(path)), compression=codec).read())
    except (OSError, pa.ArrowException):
        raise damaged(path, codec) from None
