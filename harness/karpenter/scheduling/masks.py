"""Sets as integers with one bit for each item: which bits are set."""

from collections.abc import Iterator

__all__ = ["bits", "few_bits"]


def bits(mask: int) -> Iterator[int]:
    """Positions of the set bits, ascending: the faster way where many are set."""
    for index, digit in enumerate(bin(mask)[:1:-1]):
        if digit == "1":
            yield index


def few_bits(mask: int) -> Iterator[int]:
    """The same, the faster way where few are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
