"""Files inside a ZIP archive, read within limits; also those packed with zstd, as newer tools write them."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from struct import unpack_from
from types import TracebackType

from sparingly.base.errors import InputError
from sparingly.base.lazy import pl
from sparingly.data import files

MAGIC = b"PK\x03\x04"


class Archive:
    """A ZIP archive whose files together may unpack to no more than any packed file may."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._limit = files.most_bytes(path.stat().st_size)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise InputError(
                f"the ZIP archive is damaged ({error})", file=path, fix="Is it complete? Copy it again"
            ) from None
        self.names = self._zip.namelist()

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def read(self, name: str) -> str:
        """Return a file of the archive as text."""
        info = self._zip.getinfo(name)
        try:
            try:
                with self._zip.open(info) as member:
                    content = member.read(-1 if math.isinf(self._limit) else int(self._limit) + 1)
            except NotImplementedError:
                # Python reads zstd in archives from 3.14 on.
                content = self._unpack_zstd(info)
            self._count(len(content))
            return content.decode("utf-8-sig")
        except (zipfile.BadZipFile, RuntimeError, ValueError, EOFError) as error:
            raise InputError(f"{name} in the archive cannot be read ({error})", file=self._path) from None

    def _count(self, size: int) -> None:
        self._limit -= size
        if self._limit < 0:
            raise InputError(
                "the archive unpacks to far more than its own size", file=self._path, fix=files.TRUST_FIX
            )

    def _unpack_zstd(self, info: zipfile.ZipInfo) -> bytes:
        with self._path.open("rb") as file:
            file.seek(info.header_offset)
            file.seek(sum(unpack_from("<HH", file.read(30), 26)), io.SEEK_CUR)
            packed = file.read(info.compress_size)
        if info.compress_type != 93:
            raise ValueError(f"packed by method {info.compress_type}")
        if zstd_bound(packed) > self._limit:
            self._count(zstd_bound(packed))
        try:
            # What polars reads as a table may be packed with zstd. JSON has no control characters, so that
            # with this separator a line is one field.
            lines = pl.read_csv(
                packed,
                has_header=False,
                separator="\x01",
                quote_char=None,
                infer_schema=False,
                new_columns=["line"],
            )
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error).partition("\n")[0]) from None
        return "\n".join(lines["line"].fill_null("")).encode()


def zstd_bound(packed: bytes) -> int:
    """Return how many bytes zstd frames unpack to at most, by the headers of their blocks."""
    place = total = 0
    while place < len(packed):
        magic = int.from_bytes(packed[place : place + 4], "little")
        if magic >> 4 == 0x184D2A5:
            place += 8 + int.from_bytes(packed[place + 4 : place + 8], "little")
            continue
        if magic != 0xFD2FB528 or place + 5 > len(packed):
            raise ValueError("the zstd data are damaged")
        flags = packed[place + 4]
        one_segment, has_sum = flags >> 5 & 1, flags >> 2 & 1
        place += 6 - one_segment + (0, 1, 2, 4)[flags & 3] + (one_segment, 2, 4, 8)[flags >> 6]
        is_last = 0
        while not is_last:
            if place + 3 > len(packed):
                raise ValueError("the zstd data are cut off")
            header = int.from_bytes(packed[place : place + 3], "little")
            is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
            # A block holds its bytes as they are, one byte to repeat, or at most 128 kB packed.
            place += 3 + (1 if kind == 1 else size)
            total += size if kind < 2 else 2**17
        place += 4 * has_sum
    return total
