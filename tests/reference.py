"""The oracle: a plain-Python codec, written to be obviously right and never to be fast.

A table is a list of symbols (bytes) in code order. Where a symbol stands twice its first code serves.
"""

import itertools
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


# --- DELTA_BINARY_PACKED -----------------------------------------------------------------------


def varint(number):
    return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])


def zigzag(number):
    return varint(2 * number if number >= 0 else -2 * number - 1)


def wrap(number, bits):
    """`number` as it is in two's complement of so many bits."""
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def delta_encode(values, bits=32, block=128, miniblocks=4, wider=0, padding=0, unneeded=0):
    """`wider`: bits more than are needed; `padding`: values that fill up; `unneeded`: widths without values."""
    out = varint(block) + varint(miniblocks) + varint(len(values)) + zigzag(values[0] if values else 0)
    deltas = [wrap(after - before, bits) for before, after in itertools.pairwise(values)]
    for start in range(0, len(deltas), block):
        part = deltas[start : start + block]
        smallest = min(part)
        each = block // miniblocks
        groups = [[d - smallest for d in part[i : i + each]] for i in range(0, len(part), each)]
        widths = [min(bits, max(group).bit_length() + wider) for group in groups]
        out += zigzag(smallest) + bytes(widths) + bytes([unneeded] * (miniblocks - len(groups)))
        for group, width in zip(groups, widths, strict=True):
            group += [padding % (1 << width)] * (each - len(group))
            out += sum(delta << (i * width) for i, delta in enumerate(group)).to_bytes(each * width // 8, "little")
    return out


def read_varint(data, at):
    number = shift = 0
    while True:
        if at >= len(data):
            raise CorruptError("an integer is cut")
        number |= (data[at] & 127) << shift
        if shift > 63 or number >= 1 << 64:
            raise CorruptError("an integer of more than 64 bits")
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def read_zigzag(data, at):
    number, at = read_varint(data, at)
    return number // 2 if number % 2 == 0 else -(number // 2) - 1, at


def delta_decode(data, bits=32):
    """The values, and where they end."""
    block, at = read_varint(data, 0)
    miniblocks, at = read_varint(data, at)
    count, at = read_varint(data, at)
    value, at = read_zigzag(data, at)
    if block == 0 or block % 128 or block >= 1 << 62 or miniblocks == 0 or block % (32 * miniblocks):
        raise CorruptError("block and miniblocks")
    if count > (1 << 16) + 512 * len(data) or value != wrap(value, bits):
        raise CorruptError("count and first value")
    values = [value] if count else []
    each = block // miniblocks
    while len(values) < count:
        smallest, at = read_zigzag(data, at)
        widths = data[at : at + miniblocks]
        at += miniblocks
        if at > len(data):
            raise CorruptError("the widths are cut")
        for width in widths:
            if len(values) == count:
                break
            if width > bits or at + each * width // 8 > len(data):
                raise CorruptError("a miniblock")
            packed = int.from_bytes(data[at : at + each * width // 8], "little")
            at += each * width // 8
            for i in range(min(each, count - len(values))):
                value = wrap(value + smallest + (packed >> (i * width) & ((1 << width) - 1)), bits)
                values.append(value)
    return values, at


# --- Data pages --------------------------------------------------------------------------------


def write_page(rows, delta=None):
    """Rows are values' codes; `delta` says how offsets are written, None as it is smaller."""
    ends = list(itertools.accumulate(map(len, rows)))
    offsets = [struct.pack(f"<{len(ends)}i", *ends), delta_encode(ends)]
    delta = len(offsets[1]) < len(offsets[0]) if delta is None else delta
    return struct.pack("<Bii", delta, len(rows), len(offsets[delta])) + offsets[delta] + b"".join(rows)


def read_page(symbols, data, num_values):
    """The values' codes."""
    if len(data) < 9:
        raise CorruptError("the header is cut")
    encoding, count, size = struct.unpack_from("<Bii", data)
    offsets, codes = data[9 : 9 + size], data[9 + size :]
    if encoding > 1 or count != num_values or not 0 <= size <= len(data) - 9:
        raise CorruptError("the header")
    if encoding == 0:
        if size != 4 * count:
            raise CorruptError("the size of the offsets")
        ends = list(struct.unpack(f"<{count}i", offsets))
    elif count == size == 0:
        ends = []
    else:
        ends, end = delta_decode(offsets)
        if len(ends) != count or end != size:
            raise CorruptError("the number of offsets")
    bounds = [0, *ends]
    if bounds != sorted(bounds) or bounds[-1] != len(codes):
        raise CorruptError("the offsets")
    rows = [codes[start:end] for start, end in itertools.pairwise(bounds)]
    for row in rows:
        decompress(symbols, row)
    return rows
