"""The 64-bit hash of Go values that Karpenter keeps in annotations to notice drift (mitchellh/hashstructure v2, FormatV2).

Karpenter hashes with slices as sets, zero values left out and nil as zero. A hash depends on Go's types: build it bottom-up from
the functions here, naming struct types and fields as Go does, fields in Go's order.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

__all__ = ["of_bool", "of_bytes", "of_int", "of_map", "of_set", "of_string", "of_struct"]

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = (1 << 64) - 1


def of_bytes(data: bytes) -> int:
    """FNV-1 of 64 bits, also of what a type writes of itself (encoding.BinaryMarshaler)."""
    value = _OFFSET
    for byte in data:
        value = (value * _PRIME & _MASK) ^ byte
    return value


@lru_cache(maxsize=4096)
def of_string(text: str) -> int:
    """A string, also of a named string type."""
    return of_bytes(text.encode("utf-8", "surrogatepass"))


def of_int(value: int, bits: int = 64) -> int:
    """An integer of the given width; Go's plain int has 64 bits."""
    return of_bytes((value & (1 << bits) - 1).to_bytes(bits // 8, "little"))


def of_bool(value: bool) -> int:
    """A bool."""
    return of_int(int(value), 8)


def of_set(items: Iterable[int]) -> int:
    """A slice whose order does not count, of hashed elements."""
    value = 0
    for item in items:
        value ^= item
    return value


def of_map(items: Mapping[str, int]) -> int:
    """A map from strings to hashed values."""
    return _finish(of_set(_ordered(of_string(key), value) for key, value in items.items()))


def of_struct(name: str, fields: Iterable[tuple[str, int]]) -> int:
    """A struct of a type, with its hashed fields that are neither ignored nor zero."""
    value = of_string(name)
    for field, hashed in fields:
        # The library finishes after every field, so their order counts after all.
        value = _finish(value ^ _ordered(of_string(field), hashed))
    return value


def _ordered(first: int, second: int) -> int:
    return of_bytes(first.to_bytes(8, "little") + second.to_bytes(8, "little"))


def _finish(value: int) -> int:
    return of_bytes(value.to_bytes(8, "little"))
