"""Numbers as strings for people, in the format of the PaddlePaddle operator."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size(count: int) -> str:
    """Return a number of bytes as a string: `4.2 GiB`, or from ten of a unit on without a fraction: `58 MiB`."""
    if count < 10:
        return f"{count} B"
    unit = min((count.bit_length() - 1) // 10, len(_UNITS) - 1)
    tenths = (count * 10 + (1 << (10 * unit)) // 2) >> (10 * unit)
    return f"{tenths // 10}.{tenths % 10} {_UNITS[unit]}" if tenths < 100 else f"{round(tenths / 10)} {_UNITS[unit]}"
