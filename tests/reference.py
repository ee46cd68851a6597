"""The oracle: a plain-Python codec, written to be obviously right and never to be fast.

A table is a list of symbols (bytes) in code order. Where a symbol stands twice its first code serves.
"""

import struct

ESCAPE = 255
CWIDA_VERSION = 20190218


class CorruptError(ValueError):
    """What no writer produces."""


def compress(symbols, text):
    """Greedy longest match; what no symbol begins is escaped."""
    codes = bytearray()
    at = 0
    while at < len(text):
        longest = max((s for s in symbols if text.startswith(s, at)), key=len, default=None)
        if longest is None:
            codes += bytes([ESCAPE, text[at]])
            at += 1
        else:
            codes.append(symbols.index(longest))
            at += len(longest)
    return bytes(codes)


def decompress(symbols, codes):
    text = b""
    at = 0
    while at < len(codes):
        if codes[at] == ESCAPE:
            if at + 1 == len(codes):
                raise CorruptError("an escape without its literal")
            text += codes[at + 1 : at + 2]
            at += 2
        elif codes[at] < len(symbols):
            text += symbols[codes[at]]
            at += 1
        else:
            raise CorruptError("a code without a symbol")
    return text


def histogram(symbols):
    return bytes(sum(len(s) == length for s in symbols) for length in range(1, 9))


def split(data, lengths):
    """Cuts `data` into pieces of these lengths, which must use it up exactly."""
    if sum(lengths) != len(data):
        raise CorruptError("the symbols' lengths do not add up to the bytes there are")
    pieces = []
    for length in lengths:
        pieces.append(data[:length])
        data = data[length:]
    return pieces


def parquet_order(symbols):
    return sorted(symbols, key=len)


def write_parquet(symbols):
    assert symbols == parquet_order(symbols)
    return bytes([len(symbols)]) + histogram(symbols) + b"".join(symbols)


def read_parquet(data):
    if len(data) < 9:
        raise CorruptError("the header is cut")
    if sum(data[1:9]) != data[0]:
        raise CorruptError("the histogram does not add up to the count")
    return split(data[9:], [length for length in range(1, 9) for _ in range(data[length])])


def is_prefix_of_longer(symbols, symbol):
    return any(len(other) > 2 and other.startswith(symbol) for other in symbols)


def cwida_order(symbols):
    """Lengths 2 to 8, then 1; two-byte symbols that no longer symbol starts with come first of all."""

    def rank(symbol):
        return (len(symbol) == 1, len(symbol), len(symbol) == 2 and is_prefix_of_longer(symbols, symbol))

    return sorted(symbols, key=rank)


def write_cwida(symbols):
    """For tables that are not zero-terminated; the terminator is the lowest byte that may be one."""
    assert symbols == cwida_order(symbols)
    longer = [s for s in symbols if len(s) > 1]
    terminator = min(set(range(256)) - set(b"".join(longer)))
    suffix_lim = sum(len(s) == 2 and not is_prefix_of_longer(symbols, s) for s in symbols)
    header = CWIDA_VERSION << 32 | suffix_lim << 24 | terminator << 16 | len(symbols) << 8 | 1
    return struct.pack("<QB", header, 0) + histogram(symbols) + b"".join(symbols)


def read_cwida(data):
    if len(data) < 17:
        raise CorruptError("the header is cut")
    header, zero_terminated = struct.unpack_from("<QB", data)
    counts = list(data[9:17])
    if header >> 32 != CWIDA_VERSION or header & 255 != 1 or sum(counts) != header >> 8 & 255:
        raise CorruptError("version or count")
    if zero_terminated > 1 or counts[0] < zero_terminated:
        raise CorruptError("zero_terminated")
    counts[0] -= zero_terminated
    lengths = [length for length in (2, 3, 4, 5, 6, 7, 8, 1) for _ in range(counts[length - 1])]
    return [b"\0"] * zero_terminated + split(data[17:], lengths)
