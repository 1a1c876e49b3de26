"""A text in blocks of whole rows, so that a file larger than memory can be read, compressed or not."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa

from c45gpu.data.blocks import Progress
from c45gpu.data.compressed import codec_of, damaged
from c45gpu.data.tokens import BYTE_ORDER_MARK, FilePath, binary, empty, unreadable, with_line_feeds
from c45gpu.errors import DataError

BYTES_OF_A_BLOCK: Final = 1 << 21  # about what the texts of `blocks.CASES_OF_A_BLOCK` cases of a few columns take
LONGEST_ROW: Final = 1 << 26  # bytes; a row that goes on is a quote that nobody closed


class TextBlock(NamedTuple):
    """Whole rows, as UTF-8, and the line of the first of them."""

    text: bytes
    line: int


class TextBlocks:
    """A text file that is read a block at a time, as often as wanted.

    Parameters
    ----------
    path : str or os.PathLike
        Decompressed when its suffix says that it is compressed.
    end_of_rows : callable
        How many bytes of a text, which begins with a row, are whole rows.

    Raises
    ------
    DataError
        When it cannot be read, is blank, or is no text.
    """

    def __init__(self, path: FilePath, end_of_rows: Callable[[bytes], int]) -> None:
        self.path = path
        self._end_of_rows = end_of_rows
        if Path(path).exists() and not Path(path).is_file():
            raise DataError("is no plain file, and is read more than once: save what it holds as a file", path)
        self._is_utf8 = self._looked_at()

    def blocks(self, progress: Progress | None = None) -> Iterator[TextBlock]:
        """The text, without a byte order mark; what is not UTF-8 as a whole is taken for Latin-1.

        Parameters
        ----------
        progress : callable, optional
            Is told how many bytes of the file are done.

        Raises
        ------
        DataError
            When a row does not end within `LONGEST_ROW`, or the file is damaged.
        """
        held, line = b"", 1
        for chunk, at in self._chunks():
            held += chunk
            end = self._end_of_rows(held)
            if end:
                yield TextBlock(held[:end], line)
                line, held = line + _line_ends(held[:end]), held[end:]
            elif len(held) > LONGEST_ROW:
                message = f"a row begins here that has not ended after {LONGEST_ROW >> 20} MiB: is a quote not closed?"
                raise DataError(message, self.path, line)
            if progress is not None:
                progress(at)
        if held:
            yield TextBlock(held, line)

    def _looked_at(self) -> bool:
        """Whether all of it is UTF-8."""
        decoder, is_blank, is_utf8 = codecs.getincrementaldecoder("utf-8")(), True, True
        for chunk, _ in self._raw():
            if b"\0" in chunk:
                raise binary(self.path)
            is_blank = is_blank and chunk.isspace()
            if is_utf8 and not (chunk.isascii() and not decoder.getstate()[0]):
                is_utf8 = _decodes(decoder, chunk)
        if is_blank:
            raise empty(self.path)
        return is_utf8 and _decodes(decoder, b"", final=True)

    def _chunks(self) -> Iterator[tuple[bytes, int]]:
        """The text as UTF-8 in pieces that do not end within a line's CR LF, and how far the file is read."""
        held = b""
        for number, (raw, at) in enumerate(self._raw()):
            piece = raw if number else raw.removeprefix(BYTE_ORDER_MARK)
            text = held + (piece if self._is_utf8 else piece.decode("latin-1").encode())
            held = b"\r" if text.endswith(b"\r") else b""
            yield text.removesuffix(held), at
        if held:
            yield held, at

    def _raw(self) -> Iterator[tuple[bytes, int]]:
        codec = codec_of(self.path)
        try:
            with pa.OSFile(str(self.path)) as file:
                stream = file if codec is None else pa.CompressedInputStream(file, codec)
                while chunk := _read(stream, codec, self.path):
                    yield chunk, file.tell()
        except OSError as error:
            raise unreadable(self.path, error) from None


def line_feed_blocks(text: TextBlocks, progress: Progress | None = None) -> Iterator[TextBlock]:
    """The blocks of a text, with all lines ended by a line feed."""
    return (TextBlock(with_line_feeds(block.text), block.line) for block in text.blocks(progress))


def end_of_lines(text: bytes) -> int:
    """How many bytes of a text are whole lines, whatever ends them."""
    return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1


def _read(stream: Any, codec: str | None, path: FilePath) -> bytes:
    try:
        return bytes(stream.read(BYTES_OF_A_BLOCK))
    except (OSError, pa.ArrowException):
        if codec is None:
            raise
        raise damaged(path, codec) from None


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _line_ends(text: bytes) -> int:
    carriage_returns = text.count(b"\r")
    return text.count(b"\n") + (carriage_returns - text.count(b"\r\n") if carriage_returns else 0)
