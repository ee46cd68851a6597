# cython: language_level=3, cdivision=True
"""The boundary between Python and ``csrc``: buffers, validation, the GIL, status to exception.

Every entry reads in the same order: validate, allocate, ``with nogil``, check the status, wrap.
Nothing here knows pyarrow or numpy; buffers come and go through the buffer protocol.

Bounds of lists and tuples are checked: pointers have none anyway, and what a Thrift struct holds is a stranger's choice.
"""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

import os
from collections.abc import Sequence

from fsst.errors import CorruptDataError


cdef extern from "csrc/status.hpp" namespace "fsst" nogil:
    cdef enum class Status(int32_t):
        ok
        table_too_short
        table_bad_version
        table_bad_histogram
        table_bad_size
        table_bad_flag
        table_bad_suffix_lim
        table_bad_terminator
        table_out_of_order
        table_no_terminator
        offset_negative
        offset_decreasing
        offset_past_end
        code_unknown
        escape_at_end
        output_too_small
        offsets_overflow
        delta_cut
        delta_bad_varint
        delta_bad_block
        delta_bad_miniblocks
        delta_bad_first
        delta_bad_width
        delta_too_many
        page_too_short
        page_bad_encoding
        page_bad_count
        page_bad_offsets_size
        page_plain_size
        page_delta_count
        page_delta_left
        page_codes_left
        levels_cut
        level_too_high

    cdef struct Outcome:
        Status status
        int64_t row
        int64_t position
        int64_t size
        int64_t limit


cdef extern from "csrc/symbol_table.hpp" namespace "fsst" nogil:
    const size_t kMaxSymbols
    const size_t kMaxTableBytes

    cdef cppclass CSymbolTable "fsst::SymbolTable":
        uint64_t symbol[255]
        uint8_t length[255]
        uint32_t count
        int16_t terminator
        cbool zero_terminated

    Outcome parse_parquet(const uint8_t* data, size_t size, CSymbolTable& table) noexcept
    Outcome parse_cwida(const uint8_t* data, size_t size, CSymbolTable& table) noexcept
    Outcome write_parquet(const CSymbolTable& table, uint8_t* to) noexcept
    Outcome write_cwida(const CSymbolTable& table, uint8_t* to) noexcept
    CSymbolTable in_parquet_order(const CSymbolTable& table) noexcept
    CSymbolTable in_cwida_order(const CSymbolTable& table) noexcept


cdef extern from "csrc/rows.hpp" namespace "fsst" nogil:
    cdef cppclass Rows[Offset]:
        const uint8_t* data
        const Offset* offsets
        size_t count
        size_t total() noexcept

    Outcome check_offsets[Offset](const Offset* offsets, size_t count, size_t data_size) noexcept
    size_t count_unset(const uint8_t* bits, size_t first, size_t count) noexcept
    cbool nulls_hide_bytes[Offset](const Offset* offsets, size_t count, const uint8_t* validity,
                                   size_t first_bit) noexcept


cdef extern from "csrc/interrupt.hpp" namespace "fsst" nogil:
    cdef cppclass Interrupt:
        Interrupt(cbool (*poll)(void*) noexcept nogil, void* argument) except +
        cbool ask() noexcept


cdef extern from "csrc/decode_table.hpp" namespace "fsst" nogil:
    cdef cppclass DecodeTable:
        DecodeTable(const CSymbolTable& table) except +


cdef extern from "csrc/encoder.hpp" namespace "fsst" nogil:
    cdef cppclass Matcher:
        pass

    size_t compress_row(const Matcher& matcher, const uint8_t* text, size_t size, uint8_t* codes) noexcept

    cdef cppclass Encoder:
        void prepare(size_t raw_bytes) except +
        const Matcher& matcher() noexcept

    cdef cppclass LazyEncoder:
        Encoder* get(const CSymbolTable& table) except +


cdef extern from "csrc/isa.hpp" namespace "fsst" nogil:
    cdef enum class Isa(int):
        plain
        baseline
        avx2
        avx512

    Isa detect_isa() noexcept


cdef extern from "csrc/renumber.hpp" namespace "fsst" nogil:
    Outcome renumber_rows[Offset](const uint8_t* places, uint32_t symbols, const Rows[Offset]& rows,
                                  uint8_t* out) noexcept


cdef extern from "csrc/decompress.hpp" namespace "fsst" nogil:
    Outcome measure_total[Offset](const DecodeTable& table, const Rows[Offset]& rows, Isa isa) noexcept
    size_t decode_row_bound(size_t codes) noexcept
    Outcome decode_row[Offset](const DecodeTable& table, const Rows[Offset]& rows, size_t row, uint8_t* text) noexcept


cdef extern from "csrc/usage.hpp" namespace "fsst" nogil:
    void count_codes[Offset](const Rows[Offset]& rows, uint64_t* uses, Interrupt& interrupt) noexcept


cdef extern from "csrc/parallel.hpp" namespace "fsst" nogil:
    cdef cppclass Measured:
        Outcome outcome
        cbool ascii
        cbool interrupted

    cbool compress_column[Offset, CodeOffset](
        const Encoder& encoder, const Rows[Offset]& rows, uint8_t* codes, CodeOffset* ends, Isa isa,
        size_t threads, Interrupt& interrupt, size_t& written) except +
    Measured measure_column[Offset, TextOffset](
        const DecodeTable& table, const Rows[Offset]& rows, TextOffset* ends, Isa isa,
        size_t threads, Interrupt& interrupt) except +
    int64_t decode_column[Offset, TextOffset](
        const DecodeTable& table, const Rows[Offset]& rows, const Measured& measured, const TextOffset* offsets,
        uint8_t* text, cbool utf8, Isa isa, size_t threads, Interrupt& interrupt) except +
    int64_t check_utf8_column[TextOffset](
        const Rows[TextOffset]& text, Isa isa, size_t threads, Interrupt& interrupt) except +


cdef extern from "csrc/train.hpp" namespace "fsst" nogil:
    cdef enum class Effort(int):
        fast
        normal
        max

    cdef struct ColumnPiece:
        const uint8_t* data
        const void* offsets
        size_t count
        cbool wide

    cdef struct TrainOptions:
        Effort effort
        int max_per_prefix
        cbool (*stop)(void*) noexcept nogil
        void* stop_arg

    CSymbolTable c_train "fsst::train"(const vector[ColumnPiece]& pieces, const TrainOptions& options) except +


# The largest offset that 4 bytes are trusted with. Tests lower it in a process of their own, to see
# columns widen that do not fill 2 GiB.
offset_limit = int(os.environ.get("FSST_TEST_OFFSET_LIMIT", 2**31 - 1))
cdef int64_t limit_of_narrow = offset_limit


ISA_NAMES = {"plain": Isa.plain, "baseline": Isa.baseline, "avx2": Isa.avx2, "avx512": Isa.avx512}


cdef Isa choose_isa() except *:
    """The processor's best instruction set, or a lower one by FSST_FORCE_ISA."""
    names = ISA_NAMES
    best = detect_isa()
    forced = os.environ.get("FSST_FORCE_ISA")
    if not forced:
        return best
    if forced not in names:
        raise ImportError(f"FSST_FORCE_ISA must be one of {', '.join(names)}, not {forced!r}")
    if names[forced] > best:
        raise ImportError(f"FSST_FORCE_ISA={forced}, but this processor has no more than "
                          f"{[name for name in names if names[name] == best][0]}")
    return names[forced]


cdef Isa isa = choose_isa()


def set_isa(name):
    """Use another instruction set from now on, for tests and benchmarks that compare; returns the one before.

    Not while other threads are at work.
    """
    global isa
    before = [known for known in ISA_NAMES if ISA_NAMES[known] == isa][0]
    if name not in ISA_NAMES or ISA_NAMES[name] > detect_isa():
        raise ValueError(f"no instruction set {name!r} here")
    isa = ISA_NAMES[name]
    return before


# --- Buffers ---------------------------------------------------------------------------------


cdef extern from "csrc/large_pages.hpp" namespace "fsst" nogil:
    void ask_for_large_pages(void* data, size_t size) noexcept


cdef class Buffer:
    """Bytes that a kernel has written: read-only to the outside, freed with the last reference."""

    cdef uint8_t* data
    cdef size_t size

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data, <Py_ssize_t> self.size, 1, flags)

    def __len__(self):
        return self.size

    cdef int shrink(self, size_t size) except -1:
        # A smaller realloc may fail in theory; the larger buffer then simply stays.
        cdef void* smaller = realloc(self.data, size + 1)
        if smaller != NULL:
            self.data = <uint8_t*> smaller
        self.size = size
        return 0


cdef Buffer allocate(uint64_t size):
    cdef Buffer buffer = Buffer.__new__(Buffer)
    # One byte more, so that an empty buffer has an address too.
    if size < <uint64_t> 1 << 62:
        buffer.data = <uint8_t*> malloc(<size_t> size + 1)
    if buffer.data == NULL:
        raise MemoryError(f"cannot allocate {size} bytes")
    buffer.size = <size_t> size
    ask_for_large_pages(buffer.data, buffer.size)
    return buffer


cdef uint8_t NOTHING[8]


cdef class Source:
    """A contiguous buffer of somebody else's, held while a kernel works on it; `name` is for errors."""

    cdef Py_buffer view
    cdef bint held
    cdef uint8_t* data
    cdef size_t size

    def __cinit__(self, source, str name, bint writable=False):
        self.data = NOTHING
        try:
            PyObject_GetBuffer(source, &self.view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0))
        except (BufferError, TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from None
        self.held = True
        if self.view.format != NULL and b"O" in <bytes> self.view.format:
            raise TypeError(f"{name} holds Python objects, not bytes")
        self.size = <size_t> self.view.len
        if self.size > 0:
            self.data = <uint8_t*> self.view.buf

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef int64_t NO_OFFSETS[2]  # zeros: the offsets of a column without rows, 4 or 8 bytes wide


cdef class Column:
    """Rows as Arrow lays them out: bytes, and ``count + 1`` offsets from entry ``first`` on, checked."""

    cdef Source bytes
    cdef Source offsets_source
    cdef Buffer aligned  # a copy of the offsets, where theirs stand at an odd address
    cdef const void* offsets
    cdef size_t count
    cdef bint wide

    def __cinit__(self):
        self.offsets = NO_OFFSETS

    cdef Rows[int32_t] narrow_rows(self) noexcept nogil:
        cdef Rows[int32_t] rows
        rows.data, rows.offsets, rows.count = self.bytes.data, <const int32_t*> self.offsets, self.count
        return rows

    cdef Rows[int64_t] wide_rows(self) noexcept nogil:
        cdef Rows[int64_t] rows
        rows.data, rows.offsets, rows.count = self.bytes.data, <const int64_t*> self.offsets, self.count
        return rows

    cdef size_t total(self) noexcept:
        return self.wide_rows().total() if self.wide else self.narrow_rows().total()


cdef class Part:
    """The first `size` bytes of a buffer that the caller has given, as a buffer."""

    cdef Source source
    cdef size_t size

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.source.data, <Py_ssize_t> self.size, 0, flags)

    def __len__(self):
        return self.size


cdef class Output:
    """Where a kernel writes: memory of our own, or of the caller's with its size checked."""

    cdef Buffer own
    cdef Source given
    cdef uint8_t* data

    cdef object wrap(self, size_t size):
        cdef Part part
        if self.given is None:
            if size != self.own.size:
                self.own.shrink(size)
            return self.own
        part = Part.__new__(Part)
        part.source, part.size = self.given, size
        return part


cdef Output open_output(out, uint64_t size, str what, size_t alignment=1):
    cdef Output output = Output.__new__(Output)
    if out is None:
        output.own = allocate(size)
        output.data = output.own.data
        return output
    output.given = Source(out, what, writable=True)
    if output.given.size < size:
        raise ValueError(f"{what} has room for {output.given.size} bytes, {size} are needed")
    if <size_t> output.given.data % alignment != 0:
        raise ValueError(f"{what} must start at a multiple of {alignment} bytes")
    output.data = output.given.data
    return output


cdef Column open_column(data, offsets, bint wide, int64_t first, int64_t count):
    cdef Column column = Column.__new__(Column)
    # pyarrow says None for buffers without bytes.
    cdef Source source = Source(b"" if offsets is None else offsets, "offsets")
    cdef size_t width = 8 if wide else 4
    cdef Outcome outcome
    cdef Buffer aligned
    cdef int64_t there = <int64_t> (source.size // width)
    column.bytes = Source(b"" if data is None else data, "data")
    column.wide = wide
    if first < 0 or count < 0:
        raise ValueError(f"rows {first} to {first} + {count}: neither may be negative")
    column.count = <size_t> count
    if count == 0 and there <= first:
        # Arrow allows a column without rows to have no offsets at all.
        return column
    if first > there - 1 or count > there - 1 - first:
        raise ValueError(
            f"{count} rows from row {first} on need {first + count + 1} offsets of {width} bytes, "
            f"the offsets buffer holds {there}"
        )
    column.offsets = source.data + <size_t> first * width
    column.offsets_source = source
    if <size_t> column.offsets % width != 0:
        # Buffers cut out of a file may start anywhere; C++ may not load an int from anywhere.
        aligned = allocate((<size_t> count + 1) * width)
        memcpy(aligned.data, column.offsets, aligned.size)
        column.offsets = aligned.data
        column.aligned = aligned
    with nogil:
        if wide:
            outcome = check_offsets[int64_t](<const int64_t*> column.offsets, column.count, column.bytes.size)
        else:
            outcome = check_offsets[int32_t](<const int32_t*> column.offsets, column.count, column.bytes.size)
    check(outcome, "offsets")
    return column


cdef bint overlap(Source a, Source b) noexcept:
    return (a is not None and b is not None and a.size > 0 and b.size > 0
            and a.data < b.data + b.size and b.data < a.data + a.size)


cdef int check_apart(Output codes, Output ends, Column column) except -1:
    """A kernel that read what it has just written would go astray, beyond its checks."""
    for given, name in ((codes.given, "out"), (ends.given, "out_offsets")):
        if overlap(given, column.bytes) or overlap(given, column.offsets_source):
            raise ValueError(f"{name} overlaps the memory that is read")
    if overlap(codes.given, ends.given):
        raise ValueError("out and out_offsets overlap")
    return 0


# --- Status to exception ---------------------------------------------------------------------


cdef int check(Outcome o, str what) except -1:
    """Raise what `o` says, with its numbers; `what` names the data it is about."""
    cdef Status s = o.status
    if s == Status.ok:
        return 0
    # A single value has no row. Bytes count from the start of the codes' buffer.
    has, ends = (f": row {o.row} has", f": row {o.row} ends") if o.row >= 0 else (" have", " end")
    if s == Status.table_too_short:
        message = f"{what} has {o.size} bytes, its header alone needs {o.limit}"
    elif s == Status.table_bad_version:
        message = f"{what} starts with 0x{<uint64_t> o.size:016x}, which is not version 20190218"
    elif s == Status.table_bad_histogram:
        message = f"{what} declares {o.limit} symbols, but its length histogram (offset 1 or 9) sums to {o.size}"
    elif s == Status.table_bad_size:
        message = f"{what} has {o.size} bytes, but its length histogram asks for {o.limit}"
    elif s == Status.table_bad_flag:
        message = f"{what} has zero_terminated = {o.size} at offset 8 with {o.limit} symbols of one byte"
    elif s == Status.table_bad_suffix_lim:
        message = (f"{what} has suffix_lim = {o.size} (byte 3), but its symbols ask for {o.limit}: two-byte symbols "
                   "that begin no longer one come first")
    elif s == Status.table_bad_terminator:
        message = f"{what} has terminator 0x{o.size:02x} (byte 2), which a symbol of two bytes or more contains"
    elif s == Status.offset_negative:
        message = f"{what}: offset {o.size} at row {o.row} is negative"
    elif s == Status.offset_decreasing:
        message = f"{what}: row {o.row} ends at {o.size}, before its start at {o.limit}"
    elif s == Status.offset_past_end:
        message = f"{what}: offset {o.size} at row {o.row} is past the end of the data, which has {o.limit} bytes"
    elif s == Status.code_unknown:
        message = (f"{what}{has} code {o.size} at byte {o.position}, "
                   f"but the symbol table has {o.limit} symbols")
    elif s == Status.escape_at_end:
        message = f"{what}{ends} in an escape (byte {o.position}) without its literal"
    elif s == Status.delta_cut:
        message = f"{what}: at byte {o.position} DELTA_BINARY_PACKED needs {o.size} bytes, {o.limit} are left"
    elif s == Status.delta_bad_varint:
        message = f"{what}: the integer at byte {o.position} has more than 64 bits"
    elif s == Status.delta_bad_block:
        message = f"{what}: DELTA_BINARY_PACKED has blocks of {<uint64_t> o.size} values, no multiple of 128"
    elif s == Status.delta_bad_miniblocks:
        message = (f"{what}: DELTA_BINARY_PACKED has {<uint64_t> o.size} miniblocks in blocks of {o.limit} values; each "
                   "must hold a multiple of 32")
    elif s == Status.delta_bad_first:
        message = f"{what}: DELTA_BINARY_PACKED starts with {o.size}, which is no int{o.limit}"
    elif s == Status.delta_bad_width:
        message = (f"{what}: the miniblock of value {o.row} has {o.size} bits a value (byte {o.position}), "
                   f"int{o.limit} has {o.limit}")
    elif s == Status.delta_too_many:
        message = (f"{what}: DELTA_BINARY_PACKED declares {<uint64_t> o.size} values in {o.position} bytes, more than "
                   f"the {o.limit} that are believed")
    elif s == Status.page_too_short:
        message = f"{what} has {o.size} bytes, its header alone needs {o.limit}"
    elif s == Status.page_bad_encoding:
        message = f"{what} has offset_encoding {o.size} (byte 0), neither 0 (PLAIN) nor 1 (DELTA_BINARY_PACKED)"
    elif s == Status.page_bad_count:
        message = f"{what} declares {o.size} values (byte 1), but {o.limit} were announced"
    elif s == Status.page_bad_offsets_size:
        message = f"{what}: offsets need {o.size} bytes (byte 5), {o.limit} are left"
    elif s == Status.page_plain_size:
        message = f"{what} has {o.size} bytes of offsets (byte 5), but those of its values take {o.limit}"
    elif s == Status.page_delta_count:
        message = f"{what} has {<uint64_t> o.size} offsets for {o.limit} values"
    elif s == Status.page_delta_left:
        message = f"{what}: offsets take {o.size} bytes, but offset_array_length (byte 5) is {o.limit}"
    elif s == Status.page_codes_left:
        message = f"{what}: the last value ends at {o.size}, but the data section has {o.limit} bytes"
    elif s == Status.levels_cut:
        message = f"{what}: {o.position} bytes hold {o.size} levels, {o.limit} are needed"
    elif s == Status.level_too_high:
        message = f"{what}: a level is {o.size}, the schema allows {o.limit}"
    else:
        raise AssertionError(f"status {<int> s} has no message")  # a new status without its words
    raise CorruptDataError(message)


cdef class Signals:
    """Lets kernels look for signals, and keeps what a signal handler raised."""

    cdef object error
    cdef Interrupt* interrupt

    def __cinit__(self):
        self.interrupt = new Interrupt(look_for_signals, <void*> self)

    def __dealloc__(self):
        del self.interrupt

    cdef int raise_error(self) except -1:
        if self.error is not None:
            raise self.error
        return 0


cdef cbool look_for_signals(void* signals) noexcept nogil:
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            (<Signals> signals).error = error
            return True
    return False


# --- Symbol tables ---------------------------------------------------------------------------


cdef enum:
    SMALL_VALUE = 1024  # bytes of a single value up to which it is worked on without a column around it


cdef Buffer single_row(Source source):
    """The offsets of a column with one row."""
    cdef Buffer offsets = allocate(16)
    (<int64_t*> offsets.data)[0] = 0
    (<int64_t*> offsets.data)[1] = <int64_t> source.size
    return offsets


cdef class Table:
    """A symbol table and what the kernels look up in it. Immutable; shared between threads."""

    cdef CSymbolTable table
    cdef DecodeTable* decoder
    cdef LazyEncoder encoder

    def __dealloc__(self):
        del self.decoder

    @property
    def count(self):
        return self.table.count

    @property
    def symbols(self):
        cdef uint8_t text[8]
        result = []
        for code in range(self.table.count):
            length = self.table.length[code]
            for i in range(length):
                text[i] = <uint8_t> (self.table.symbol[code] >> (8 * i) & 0xFF)
            result.append(PyBytes_FromStringAndSize(<const char*> text, length))
        return tuple(result)

    cdef Encoder* get_encoder(self, size_t raw_bytes) except NULL:
        # Built on first use: tables that only decode never pay for it, nor small columns for what large ones need.
        cdef Encoder* encoder = self.encoder.get(self.table)
        encoder.prepare(raw_bytes)
        return encoder

    def to_bytes(self, str format):
        """The serialized form, or None where the symbols' order is another format's."""
        cdef uint8_t data[2057]
        cdef Outcome outcome
        assert sizeof(data) >= kMaxTableBytes
        outcome = write_parquet(self.table, data) if format == "parquet" else write_cwida(self.table, data)
        if outcome.status == Status.table_out_of_order:
            return None
        if outcome.status == Status.table_no_terminator:
            raise ValueError(
                "this table cannot be written as 'cwida': that format needs a byte value that no symbol of two "
                "bytes or more contains, and here all 256 occur"
            )
        return PyBytes_FromStringAndSize(<const char*> data, outcome.size)

    def reordered(self, str format):
        """The same symbols, numbered as `format` numbers them."""
        return wrap_table(in_parquet_order(self.table) if format == "parquet" else in_cwida_order(self.table))

    def compress(self, text):
        cdef Source source = Source(text, "text")
        cdef uint8_t codes[2 * SMALL_VALUE]
        cdef size_t size
        if source.size > SMALL_VALUE:
            return bytes(compress(self, text, single_row(source), True, 0, 1, 1)[0])
        size = compress_row(self.get_encoder(0).matcher(), source.data, source.size, codes)
        return PyBytes_FromStringAndSize(<const char*> codes, <Py_ssize_t> size)

    def decompress(self, codes):
        cdef Source source = Source(codes, "codes")
        cdef int64_t offsets[2]
        cdef Rows[int64_t] rows
        cdef uint8_t text[8 * SMALL_VALUE]
        cdef Outcome outcome
        if source.size > SMALL_VALUE:
            return bytes(decompress(self, codes, single_row(source), True, 0, 1, True, 1)[0])
        offsets[0], offsets[1] = 0, <int64_t> source.size
        rows.data, rows.offsets, rows.count = source.data, offsets, 1
        assert decode_row_bound(source.size) <= sizeof(text)
        outcome = decode_row(self.decoder[0], rows, 0, text)
        outcome.row = -1
        check(outcome, "codes")
        return PyBytes_FromStringAndSize(<const char*> text, outcome.size)

    @property
    def cwida_fields(self):
        """What only the cwida header says: the terminator (-1: none was read) and zero_terminated."""
        return self.table.terminator, bool(self.table.zero_terminated)


cdef Table wrap_table(CSymbolTable table):
    cdef Table wrapped = Table.__new__(Table)
    wrapped.table = table
    wrapped.decoder = new DecodeTable(table)
    return wrapped


def table_from_symbols(symbols, int16_t terminator=-1, bint zero_terminated=False):
    cdef CSymbolTable table
    cdef uint64_t word
    if <size_t> len(symbols) > kMaxSymbols:
        raise ValueError(f"a symbol table holds at most 255 symbols, not {len(symbols)}")
    for code, symbol in enumerate(symbols):
        if not isinstance(symbol, bytes):
            raise TypeError(f"symbol {code} is {type(symbol).__name__}, not bytes")
        if not 1 <= len(symbol) <= 8:
            raise ValueError(f"symbol {code}, {symbol!r}, has {len(symbol)} bytes; symbols have 1 to 8")
        word = 0
        for i, byte in enumerate(symbol):
            word |= <uint64_t> byte << (8 * i)
        table.symbol[code] = word
        table.length[code] = <uint8_t> len(symbol)
    table.count = <uint32_t> len(symbols)
    table.terminator, table.zero_terminated = terminator, zero_terminated
    return wrap_table(table)


def table_from_bytes(data, str format):
    cdef Source source = Source(data, "symbol table")
    cdef CSymbolTable table
    if format == "parquet":
        check(parse_parquet(source.data, source.size, table), "symbol table")
    else:
        check(parse_cwida(source.data, source.size, table), "symbol table (cwida)")
    return wrap_table(table)


# --- Columns ---------------------------------------------------------------------------------


def first_invalid_utf8(data, offsets, bint wide, int64_t first, int64_t count, size_t threads):
    """The first row that is not UTF-8, or -1."""
    cdef Column column = open_column(data, offsets, wide, first, count)
    return find_invalid_utf8(column.bytes.data, column.offsets, column.count, wide, threads)


def code_uses(data, offsets, bint wide, int64_t first, int64_t count):
    """How often each of the codes 0 to 255 is used; literals count nothing."""
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef Signals signals = Signals()
    cdef uint64_t uses[256]
    memset(uses, 0, sizeof(uses))
    with nogil:
        if wide:
            count_codes(column.wide_rows(), uses, signals.interrupt[0])
        else:
            count_codes(column.narrow_rows(), uses, signals.interrupt[0])
    signals.raise_error()
    return [uses[code] for code in range(256)]


MOST_BYTES = 2**62 - 1


def compress_bound(size):
    """The most bytes of codes that `size` bytes of text can become."""
    if size < 0 or size > MOST_BYTES:
        raise ValueError(f"size must lie between 0 and 2**62 - 1, not {size}")
    return 2 * size


def row_is_inside(data, offsets, bint wide, int64_t row):
    """Whether the offsets of one row lie in the buffers, in order: pyarrow reads rows without looking."""
    cdef Source bytes = Source(b"" if data is None else data, "data")
    cdef Source source = Source(b"" if offsets is None else offsets, "offsets")
    cdef size_t width = 8 if wide else 4
    cdef int64_t start, end
    cdef int32_t pair[2]
    if row < 0 or <size_t> row + 2 > source.size // width:
        return False
    if wide:
        memcpy(&start, source.data + <size_t> row * 8, 8)
        memcpy(&end, source.data + <size_t> row * 8 + 8, 8)
    else:
        memcpy(pair, source.data + <size_t> row * 4, 8)
        start, end = pair[0], pair[1]
    return 0 <= start <= end and <size_t> end <= bytes.size


def check_null_count(validity, int64_t first, int64_t count, int64_t said):
    """Refuse a number of nulls that is not what the bitmap says, whose bit `first` is the first of `count` rows."""
    cdef Source bits = Source(validity, "validity")
    cdef int64_t counted
    if first < 0 or count < 0 or <uint64_t> first + <uint64_t> count > 8 * <uint64_t> bits.size:
        raise CorruptDataError(f"{first} + {count} rows need as many bits of validity, the buffer holds {8 * bits.size}")
    with nogil:
        counted = <int64_t> count_unset(bits.data, <size_t> first, <size_t> count)
    if counted != said:
        raise CorruptDataError(f"{said} of {count} rows are said to be null, the validity has {counted}")


def hides_bytes(data, offsets, bint wide, int64_t first, int64_t count, validity):
    """Whether rows that the bitmap `validity` (bit `first` for the first row) marks as null have bytes."""
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef Source bits = Source(validity, "validity")
    cdef cbool hidden
    if <uint64_t> (first + count) > 8 * <uint64_t> bits.size:
        raise CorruptDataError(
            f"{first + count} rows need as many bits of validity, the buffer holds {8 * bits.size}"
        )
    with nogil:
        if wide:
            hidden = nulls_hide_bytes(<const int64_t*> column.offsets, column.count, bits.data, <size_t> first)
        else:
            hidden = nulls_hide_bytes(<const int32_t*> column.offsets, column.count, bits.data, <size_t> first)
    return bool(hidden)


def compress(Table table, data, offsets, bint wide, int64_t first, int64_t count, size_t threads,
             out=None, out_offsets=None, bint out_offsets_wide=False):
    """Codes, their ``count + 1`` offsets, and whether those are 8 bytes wide (else 4).

    Both are written into `out` and `out_offsets` where these are given.
    """
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef Encoder* encoder = table.get_encoder(column.total())
    cdef uint64_t bound = 2 * <uint64_t> column.total()
    cdef bint out_wide = out_offsets_wide if out_offsets is not None else bound > <uint64_t> limit_of_narrow
    if not out_wide and bound > <uint64_t> limit_of_narrow:
        raise ValueError(f"codes may take {bound} bytes, more than int32 offsets hold; pass int64 out_offsets")
    cdef size_t width = 8 if out_wide else 4
    cdef Output codes = open_output(out, bound, "out")
    cdef Output ends = open_output(out_offsets, (column.count + 1) * width, "out_offsets", width)
    check_apart(codes, ends, column)
    cdef Signals signals = Signals()
    cdef size_t written = 0
    cdef cbool done
    cdef Rows[int32_t] narrow = column.narrow_rows()
    cdef Rows[int64_t] broad = column.wide_rows()
    memset(ends.data, 0, width)
    threads = threads if threads > 0 else 1
    with nogil:
        if out_wide:
            if wide:
                done = compress_column(encoder[0], broad, codes.data, <int64_t*> ends.data + 1, isa, threads,
                                       signals.interrupt[0], written)
            else:
                done = compress_column(encoder[0], narrow, codes.data, <int64_t*> ends.data + 1, isa, threads,
                                       signals.interrupt[0], written)
        else:
            if wide:
                done = compress_column(encoder[0], broad, codes.data, <int32_t*> ends.data + 1, isa, threads,
                                       signals.interrupt[0], written)
            else:
                done = compress_column(encoder[0], narrow, codes.data, <int32_t*> ends.data + 1, isa, threads,
                                       signals.interrupt[0], written)
    if not done:
        raise signals.error
    return codes.wrap(written), ends.wrap((column.count + 1) * width), bool(out_wide)


def renumber(Table table, data, offsets, bint wide, int64_t first, int64_t count, bytes places, out=None):
    """The codes with another number for each symbol: symbol ``i`` gets ``places[i]``."""
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef Output codes = open_output(out, column.total(), "out")
    cdef const uint8_t* place = <const uint8_t*> PyBytes_AS_STRING(places)
    cdef Outcome outcome
    cdef uint32_t symbols = table.table.count
    if <size_t> len(places) != symbols:
        raise ValueError(f"{len(places)} places for {symbols} symbols")
    check_apart(codes, Output.__new__(Output), column)
    with nogil:
        if wide:
            outcome = renumber_rows(place, symbols, column.wide_rows(), codes.data)
        else:
            outcome = renumber_rows(place, symbols, column.narrow_rows(), codes.data)
    check(outcome, "codes")
    return codes.wrap(column.total())


def decompressed_size(Table table, data, offsets, bint wide, int64_t first, int64_t count):
    """The exact size of the text; every code is checked."""
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef Outcome outcome
    with nogil:
        if wide:
            outcome = measure_total(table.decoder[0], column.wide_rows(), isa)
        else:
            outcome = measure_total(table.decoder[0], column.narrow_rows(), isa)
    check(outcome, "codes")
    return outcome.size


def decompress(Table table, data, offsets, bint wide, int64_t first, int64_t count, bint out_wide, size_t threads,
               bint utf8=False, out=None, out_offsets=None):
    """Text and its ``count + 1`` offsets, 8 bytes wide if `out_wide`.

    Both are written into `out` and `out_offsets` where these are given. With `utf8`, rows must be that.

    Where 4 bytes do not hold them the result is ``(None, total)``.
    """
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef size_t width = 8 if out_wide else 4
    cdef Output ends = open_output(out_offsets, (column.count + 1) * width, "out_offsets", width)
    # How much `out` must hold is known once the codes are measured; that it is apart must be known before.
    check_apart(open_output(out, 0, "out"), ends, column)
    cdef Signals signals = Signals()
    cdef Measured measured
    cdef Rows[int32_t] narrow = column.narrow_rows()
    cdef Rows[int64_t] broad = column.wide_rows()
    memset(ends.data, 0, width)
    threads = threads if threads > 0 else 1
    with nogil:
        if out_wide:
            if wide:
                measured = measure_column(table.decoder[0], broad, <int64_t*> ends.data + 1, isa, threads,
                                          signals.interrupt[0])
            else:
                measured = measure_column(table.decoder[0], narrow, <int64_t*> ends.data + 1, isa, threads,
                                          signals.interrupt[0])
        else:
            if wide:
                measured = measure_column(table.decoder[0], broad, <int32_t*> ends.data + 1, isa, threads,
                                          signals.interrupt[0])
            else:
                measured = measure_column(table.decoder[0], narrow, <int32_t*> ends.data + 1, isa, threads,
                                          signals.interrupt[0])
    if measured.interrupted:
        raise signals.error
    if measured.outcome.status == Status.offsets_overflow or (
        measured.outcome.status == Status.ok and not out_wide and measured.outcome.size > limit_of_narrow
    ):
        return None, measured.outcome.size
    check(measured.outcome, "codes")
    cdef size_t size = <size_t> measured.outcome.size
    cdef Output text = open_output(out, size, "out")
    cdef int64_t invalid
    with nogil:
        if out_wide:
            if wide:
                invalid = decode_column(table.decoder[0], broad, measured, <const int64_t*> ends.data, text.data, utf8,
                                        isa, threads, signals.interrupt[0])
            else:
                invalid = decode_column(table.decoder[0], narrow, measured, <const int64_t*> ends.data, text.data, utf8,
                                        isa, threads, signals.interrupt[0])
        else:
            if wide:
                invalid = decode_column(table.decoder[0], broad, measured, <const int32_t*> ends.data, text.data, utf8,
                                        isa, threads, signals.interrupt[0])
            else:
                invalid = decode_column(table.decoder[0], narrow, measured, <const int32_t*> ends.data, text.data, utf8,
                                        isa, threads, signals.interrupt[0])
    if invalid == -2:
        raise signals.error
    if invalid >= 0:
        raise CorruptDataError(f"codes: row {invalid} decompresses to bytes that are not UTF-8")
    return text.wrap(size), ends.wrap((column.count + 1) * width)


cdef int64_t find_invalid_utf8(const uint8_t* text, const void* offsets, size_t count, bint wide,
                               size_t threads) except -2:
    cdef Signals signals = Signals()
    cdef Rows[int32_t] narrow
    cdef Rows[int64_t] broad
    cdef int64_t invalid
    narrow.data, narrow.offsets, narrow.count = text, <const int32_t*> offsets, count
    broad.data, broad.offsets, broad.count = text, <const int64_t*> offsets, count
    with nogil:
        if wide:
            invalid = check_utf8_column(broad, isa, threads, signals.interrupt[0])
        else:
            invalid = check_utf8_column(narrow, isa, threads, signals.interrupt[0])
    if invalid == -2:
        raise signals.error
    return invalid


cdef cbool asks(void* interrupt) noexcept nogil:
    # Through the interrupt, which remembers: the trainer asks again after it has been told to stop.
    return (<Interrupt*> interrupt).ask()


EFFORTS = {"fast": Effort.fast, "default": Effort.normal, "max": Effort.max}


def check_effort(effort):
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise ValueError(f"effort must be 'fast', 'default' or 'max', not {effort!r}")


def train(pieces, effort):
    """A table for the rows of all `pieces`: tuples (data, offsets, wide, first, count)."""
    cdef vector[ColumnPiece] native
    cdef ColumnPiece piece
    cdef Column column
    cdef TrainOptions options
    cdef Signals signals = Signals()
    cdef CSymbolTable table
    columns = []
    for data, offsets, wide, first, count in pieces:
        column = open_column(data, offsets, wide, first, count)
        columns.append(column)
        piece.data, piece.offsets, piece.count, piece.wide = (
            column.bytes.data, column.offsets, column.count, column.wide)
        native.push_back(piece)
    check_effort(effort)
    options.effort = EFFORTS[effort]
    options.max_per_prefix = 0
    options.stop = asks
    options.stop_arg = <void*> signals.interrupt
    with nogil:
        table = c_train(native, options)
    if signals.error is not None:
        raise signals.error
    return wrap_table(table)


# --- Pages -----------------------------------------------------------------------------------


cdef extern from "csrc/port.hpp" namespace "fsst" nogil:
    Word load_le[Word](const void* source) noexcept


cdef extern from "csrc/delta.hpp" namespace "fsst" nogil:
    cdef cppclass ArrayValues[Int]:
        const Int* values

    cdef struct DeltaHeader:
        uint64_t count

    size_t delta_bound(size_t count, size_t width) noexcept
    size_t encode_delta[Int, Values](const Values& values, size_t count, uint8_t* out) noexcept
    Outcome parse_delta[Int](const uint8_t* data, size_t size, DeltaHeader& header) noexcept
    Outcome decode_delta[Int](const uint8_t* data, size_t size, const DeltaHeader& header, Int* values) noexcept


cdef extern from "csrc/page.hpp" namespace "fsst" nogil:
    cdef enum class PageLayout(int):
        fsst
        delta_length

    cdef struct PagePlan:
        size_t count
        size_t bytes
        size_t size

    cdef cppclass Page:
        size_t count
        size_t codes_start
        size_t codes_size

    PagePlan plan_page[Offset](const Rows[Offset]& rows, PageLayout layout, size_t most) noexcept
    void write_page[Offset](const Rows[Offset]& rows, PageLayout layout, const PagePlan& plan, uint8_t* out) noexcept
    Outcome parse_page(const uint8_t* data, size_t size, uint64_t count, Page& page) noexcept
    Outcome read_page_offsets(const Page& page, int32_t* offsets) noexcept
    Outcome pick_page_rows(const Page& page, const int64_t* positions, size_t picked, cbool fast, int32_t* scratch,
                           int32_t* starts, int32_t* ends) noexcept
    Outcome append_page_offsets(const Page& page, int32_t* out, int32_t* scratch) noexcept
    Outcome append_page_offsets(const Page& page, int64_t* out, int32_t* scratch) noexcept


def delta_encode(values, bint wide):
    """DELTA_BINARY_PACKED of an aligned array of int32, or int64 if `wide`."""
    cdef Source source = Source(values, "values")
    cdef size_t width = 8 if wide else 4
    cdef ArrayValues[int32_t] narrow
    cdef ArrayValues[int64_t] broad
    cdef size_t count = source.size // width
    # The bound, since finding the exact size takes half as long as encoding.
    cdef Buffer room = allocate(delta_bound(count, width))
    cdef size_t size
    narrow.values, broad.values = <const int32_t*> source.data, <const int64_t*> source.data
    with nogil:
        if wide:
            size = encode_delta[int64_t, ArrayValues[int64_t]](broad, count, room.data)
        else:
            size = encode_delta[int32_t, ArrayValues[int32_t]](narrow, count, room.data)
    return PyBytes_FromStringAndSize(<const char*> room.data, <Py_ssize_t> size)


def delta_decode(data, bint wide, int64_t count=-1):
    """The values, and how many bytes they took. There must be `count`, unless that is negative."""
    cdef Source source = Source(data, "buffer")
    cdef DeltaHeader header
    cdef Outcome outcome
    if wide:
        outcome = parse_delta[int64_t](source.data, source.size, header)
    else:
        outcome = parse_delta[int32_t](source.data, source.size, header)
    check(outcome, "integers")
    if count >= 0 and header.count != <uint64_t> count:
        raise CorruptDataError(f"integers: DELTA_BINARY_PACKED declares {header.count} values, not {count}")
    cdef Buffer values = allocate(header.count * (8 if wide else 4))
    with nogil:
        if wide:
            outcome = decode_delta[int64_t](source.data, source.size, header, <int64_t*> values.data)
        else:
            outcome = decode_delta[int32_t](source.data, source.size, header, <int32_t*> values.data)
    check(outcome, "integers")
    return values, outcome.size


cdef PagePlan plan_column(Column column, PageLayout layout, size_t most) noexcept nogil:
    if column.wide:
        return plan_page(column.wide_rows(), layout, most)
    return plan_page(column.narrow_rows(), layout, most)


def page_plan(offsets, positions, int64_t rows, int64_t page_rows, bint fsst, size_t most):
    """Where to cut a column into pages of at most `most` bytes and `page_rows` rows, and each page's exact size.

    `offsets` (int64) are those of the values that are not null, codes or (not `fsst`) text; `positions`
    (int64) says at which of the `rows` each stands, None if there are no nulls. A page holds one
    value at least, whatever its size, unless its rows are null. Tuples (rows, values, size).
    """
    cdef Source source = Source(offsets, "offsets")
    cdef Source places = Source(b"" if positions is None else positions, "positions")
    cdef const int64_t* place = <const int64_t*> places.data
    cdef size_t values = source.size // 8 - 1
    cdef PageLayout layout = PageLayout.fsst if fsst else PageLayout.delta_length
    cdef Rows[int64_t] left
    cdef PagePlan plan
    cdef size_t value = 0
    cdef int64_t row = 0, end
    if source.size < 8 or (<int64_t> values != rows if positions is None else places.size // 8 != values):
        raise ValueError(f"{source.size // 8} offsets and {places.size // 8} positions do not belong to {rows} rows")
    if page_rows < 1:
        raise ValueError(f"page_rows must be positive, not {page_rows}")
    check(check_offsets(<const int64_t*> source.data, values, <size_t> 1 << 62), "offsets")
    pages = []
    while row < rows:
        end = row + page_rows if page_rows < rows - row else rows
        left.data, left.offsets, left.count = NOTHING, <const int64_t*> source.data + value, 0
        if positions is None:
            left.count = <size_t> (end - row)
        else:
            left.count = first_not_below(place + value, values - value, end)
        with nogil:
            plan = plan_page(left, layout, most)
        if plan.count < left.count:
            end = place[value + plan.count] if positions is not None else row + <int64_t> plan.count
        if end <= row:
            raise ValueError(f"positions do not ascend at value {value + plan.count}")
        pages.append((end - row, plan.count, plan.size))
        row, value = end, value + plan.count
    return pages


cdef size_t first_not_below(const int64_t* ascending, size_t count, int64_t limit) noexcept:
    cdef size_t low = 0, middle
    while low < count:
        middle = low + (count - low) // 2
        if ascending[middle] < limit:
            low = middle + 1
        else:
            count = middle
    return low


def page_encode(data, offsets, bint wide, int64_t first, int64_t count, bint fsst):
    """The values section of a page that holds these rows, none of them null."""
    cdef Column column = open_column(data, offsets, wide, first, count)
    cdef PageLayout layout = PageLayout.fsst if fsst else PageLayout.delta_length
    cdef PagePlan plan
    with nogil:
        plan = plan_column(column, layout, <size_t> -1)
    if plan.size > <size_t> limit_of_narrow:
        raise ValueError(f"a page holds at most {limit_of_narrow} bytes, these {plan.count} values take {plan.size}")
    result = PyBytes_FromStringAndSize(NULL, <Py_ssize_t> plan.size)
    cdef uint8_t* out = <uint8_t*> PyBytes_AS_STRING(result)
    with nogil:
        if wide:
            write_page(column.wide_rows(), layout, plan, out)
        else:
            write_page(column.narrow_rows(), layout, plan, out)
    return result


def page_offsets(data, int64_t count):
    """The ``count + 1`` offsets (int32, from 0 on) of a page of codes, and where its codes begin; checked."""
    cdef Source source = Source(data, "buffer")
    cdef Page page
    cdef Outcome outcome
    if count < 0:
        raise ValueError(f"num_values must not be negative, but is {count}")
    check(parse_page(source.data, source.size, <uint64_t> count, page), "data page")
    cdef Buffer offsets = allocate((page.count + 1) * 4)
    with nogil:
        outcome = read_page_offsets(page, <int32_t*> offsets.data)
    check(outcome, "data page")
    return offsets, page.codes_start


cdef list pick_rows(const uint8_t* data, size_t size, uint64_t count, positions, size_t shift):
    cdef Source wanted = Source(positions, "positions")
    cdef const int64_t* position = <const int64_t*> wanted.data
    cdef size_t picked = wanted.size // 8, i
    cdef Page page
    cdef Outcome outcome
    check(parse_page(data, size, count, page), "data page")
    for i in range(picked):
        if position[i] < (0 if i == 0 else position[i - 1]) or <size_t> position[i] >= page.count:
            raise ValueError(f"position {position[i]} of {page.count} values, or not in ascending order")
    cdef Buffer scratch = allocate((page.count + 1) * 4)
    cdef Buffer found = allocate(picked * 8)
    cdef int32_t* starts = <int32_t*> found.data
    cdef int32_t* ends = starts + picked
    with nogil:
        outcome = pick_page_rows(page, position, picked, isa != Isa.plain, <int32_t*> scratch.data, starts, ends)
    check(outcome, "data page")
    shift += page.codes_start
    return [(starts[i] + shift, ends[i] + shift) for i in range(picked)]


def page_rows(data, int64_t count, positions):
    """Where the codes of the values at `positions` (int64, ascending) begin and end in a values section; checked."""
    cdef Source source = Source(data, "buffer")
    if count < 0:
        raise ValueError(f"num_values must not be negative, but is {count}")
    return pick_rows(source.data, source.size, <uint64_t> count, positions, 0)


def fsst_page_rows(head, int64_t size, int64_t count, positions, bint uncompressed, bint verify):
    """`page_rows` of a whole page of `size` bytes and `count` rows, of which `head` has the first, without errors.

    How many bytes it takes to read the offsets, and the places from the page's first byte on, None if `head` has fewer. None
    instead of both if the page has nulls, is compressed, has a checksum (if that is to be verified), or anything is
    wrong with it.
    """
    cdef Source source = Source(head, "buffer")
    cdef size_t start
    cdef int64_t body, levels, section
    try:
        header, start = read_thrift(head, 0, "header", dict, as_tuple, as_tuple, 8)
        part = header[8][1]
        body, levels = header[3][1], part[5][1]
        if (
            header[1] != (THRIFT_I32, 3)  # a data page of version 2
            or header[2] != header[3]
            or (verify and 4 in header)
            or part[1] != (THRIFT_I32, count)
            or part[2] != (THRIFT_I32, 0)
            or part[3] != part[1]
            or part[4][1] not in (10, 11)
            or part[6][1] != 0
            or not (uncompressed or part[7][1] is False)
        ):
            return None
    except (CorruptDataError, LookupError, TypeError):
        return None
    # All in 64 bits: each number has 32 at most.
    if levels < 0 or body < levels + 9 or body > size - <int64_t> start or size < <int64_t> source.size:
        return None
    section = <int64_t> start + levels
    if section + 9 > <int64_t> source.size:
        return section + 9, None
    # SAFETY: the line above; the last four of these nine bytes are the size of the offsets.
    cdef int64_t needed = section + 9 + <int64_t> load_le[uint32_t](source.data + section + 5)
    if needed > body + <int64_t> start:
        return None
    if needed > <int64_t> source.size:
        return needed, None
    try:
        # SAFETY: no more is read than the header and the offsets, which are there.
        return needed, pick_rows(source.data + section, <size_t> (body - levels), <uint64_t> count, positions, section)
    except CorruptDataError:
        return None


def as_tuple(*values):
    return values


def join_pages(sections):
    """The codes of values sections, back to back, their offsets from 0 on, and whether those are 8 bytes wide (else 4).

    `sections` are tuples of the bytes, the number of values, and what they are called in errors.
    """
    cdef vector[Page] pages
    cdef Page page
    cdef Source source
    cdef Outcome outcome
    cdef size_t values = 0, size = 0, most = 0, i
    sources = []
    for data, count, what in sections:
        source = Source(data, "buffer")
        sources.append(source)
        check(parse_page(source.data, source.size, <uint64_t> <int64_t> count, page), f"{what}: data page")
        pages.push_back(page)
        values, size = values + page.count, size + page.codes_size
        most = max(most, page.count)
    cdef bint wide = size > <size_t> limit_of_narrow
    cdef Buffer codes = allocate(size)
    cdef Buffer offsets = allocate((values + 1) * (8 if wide else 4))
    cdef Buffer scratch = allocate((most + 1) * 4 if wide else 0)
    cdef int32_t* narrow = <int32_t*> offsets.data
    cdef int64_t* broad = <int64_t*> offsets.data
    memset(offsets.data, 0, 8 if wide else 4)
    values = size = 0
    for i in range(pages.size()):
        page, source = pages[i], sources[i]
        with nogil:
            if wide:
                outcome = append_page_offsets(page, broad + values, <int32_t*> scratch.data)
            else:
                outcome = append_page_offsets(page, narrow + values, NULL)
            if outcome.status == Status.ok:
                # SAFETY: parse_page has found the codes to lie in the section; their sizes were added up above.
                memcpy(codes.data + size, source.data + page.codes_start, page.codes_size)
        check(outcome, f"{sections[i][2]}: data page")
        values, size = values + page.count, size + page.codes_size
    return codes, offsets, bool(wide)


# --- Levels of Parquet pages -----------------------------------------------------------------


cdef extern from "csrc/levels.hpp" namespace "fsst" nogil:
    Outcome check_levels(const uint8_t* data, size_t size, unsigned width, uint64_t count) noexcept
    Outcome decode_levels_to "fsst::decode_levels"(const uint8_t* data, size_t size, unsigned width, uint8_t most,
                                                   uint8_t* levels, size_t count) noexcept
    size_t levels_bound(size_t count, unsigned width) noexcept
    size_t encode_levels_to "fsst::encode_levels"(const uint8_t* levels, size_t count, unsigned width,
                                                  uint8_t* out) noexcept


cdef unsigned level_width(int most) except 0:
    if not 1 <= most <= 255:
        raise ValueError(f"levels up to {most}: between 1 and 255 is possible")
    return <unsigned> (<object> most).bit_length()


def decode_levels(data, int most, int64_t count, str what):
    """`count` levels from 0 to `most`, a byte each; `what` names the data."""
    cdef Source source = Source(data, "data")
    cdef unsigned width = level_width(most)
    cdef Outcome outcome
    cdef Buffer levels
    if count < 0:
        raise ValueError(f"{count} levels")
    with nogil:
        outcome = check_levels(source.data, source.size, width, <uint64_t> count)
    check(outcome, what)
    levels = allocate(<uint64_t> count)
    with nogil:
        outcome = decode_levels_to(source.data, source.size, width, <uint8_t> most, levels.data, levels.size)
    check(outcome, what)
    return levels


def encode_levels(levels, int most):
    """The bytes of levels from 0 to `most`, which come a byte each."""
    cdef Source source = Source(levels, "levels")
    cdef unsigned width = level_width(most)
    cdef Buffer out = allocate(levels_bound(source.size, width))
    cdef size_t i
    cdef size_t size
    for i in range(source.size):
        if source.data[i] > most:
            raise ValueError(f"level {source.data[i]} at {i}, but {most} is the highest")
    with nogil:
        size = encode_levels_to(source.data, source.size, width, out.data)
    return PyBytes_FromStringAndSize(<const char*> out.data, <Py_ssize_t> size)


# --- Thrift's compact protocol ---------------------------------------------------------------


cdef enum:
    THRIFT_TRUE = 1
    THRIFT_FALSE = 2
    THRIFT_BYTE = 3
    THRIFT_I16 = 4
    THRIFT_I32 = 5
    THRIFT_I64 = 6
    THRIFT_DOUBLE = 7
    THRIFT_BINARY = 8
    THRIFT_LIST = 9
    THRIFT_SET = 10
    THRIFT_MAP = 11
    THRIFT_STRUCT = 12
    THRIFT_UUID = 13


cdef class ThriftReader:
    """Reads structs into the classes of fsst/thrift.py. No byte is read before it is known to be there."""

    cdef Source source
    cdef size_t at
    cdef str what
    cdef object make_struct, make_items, make_pairs
    cdef int max_depth

    cdef object fail(self, str message):
        return CorruptDataError(f"{self.what}: byte {self.at} of {self.source.size}: {message}")

    cdef int byte(self) except -1:
        if self.at >= self.source.size:
            raise self.fail("the bytes end within a Thrift struct")
        # SAFETY: the line above.
        self.at += 1
        return self.source.data[self.at - 1]

    cdef uint64_t varint(self, int bits) except? 0:
        cdef uint64_t value = 0
        cdef int shift = 0
        cdef uint64_t byte
        while shift < 70:
            byte = <uint64_t> self.byte()
            # The tenth byte holds the 64th bit alone.
            if shift == 63 and byte > 1:
                break
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if bits < 64 and value >> bits != 0:
                    raise self.fail(f"a number takes more than {bits} bits")
                return value
            shift += 7
        raise self.fail("a number takes more than 64 bits")

    cdef object integer(self, int bits):
        cdef uint64_t folded = self.varint(bits)
        return <int64_t> (folded >> 1) ^ -<int64_t> (folded & 1)

    cdef bytes take(self, uint64_t size):
        if size > self.source.size - self.at:
            raise self.fail(f"{size} bytes are announced, {self.source.size - self.at} are left")
        # SAFETY: the line above.
        self.at += <size_t> size
        return PyBytes_FromStringAndSize(<const char*> self.source.data + self.at - size, <Py_ssize_t> size)

    cdef size_t count(self, uint64_t count) except? 0:
        # Each item takes a byte at least, so no count is believed that the bytes could not hold.
        if count > self.source.size - self.at:
            raise self.fail(f"{count} items are announced, {self.source.size - self.at} bytes are left")
        return <size_t> count

    cdef int deeper(self, int depth) except -1:
        if depth >= self.max_depth:
            raise self.fail(f"more than {self.max_depth} structs and lists within each other")
        return depth + 1

    cdef object struct(self, int depth):
        cdef dict fields = {}
        cdef int header, kind
        cdef int64_t number = 0
        depth = self.deeper(depth)
        while True:
            header = self.byte()
            kind = header & 0x0F
            if kind == 0:
                return self.make_struct(fields)
            if header >= 0x10:
                number += header >> 4
            else:
                number = self.integer(16)
            if number in fields or number > 32767:
                raise self.fail(f"field {number} stands twice or passes 32767")
            fields[number] = (kind, self.value(kind, depth) if kind > THRIFT_FALSE else kind == THRIFT_TRUE)

    cdef object value(self, int kind, int depth):
        if kind == THRIFT_I32:
            return self.integer(32)
        if kind == THRIFT_I64:
            return self.integer(64)
        if kind == THRIFT_BINARY:
            return self.take(self.varint(32))
        if kind == THRIFT_STRUCT:
            return self.struct(depth)
        if kind == THRIFT_LIST or kind == THRIFT_SET:
            return self.items(depth)
        if kind == THRIFT_TRUE or kind == THRIFT_FALSE:  # as an item
            return self.byte()
        if kind == THRIFT_BYTE:
            return self.take(1)
        if kind == THRIFT_I16:
            return self.integer(16)
        if kind == THRIFT_DOUBLE:
            return self.take(8)
        if kind == THRIFT_UUID:
            return self.take(16)
        if kind == THRIFT_MAP:
            return self.pairs(depth)
        raise self.fail(f"{kind} is no Thrift type")

    cdef object items(self, int depth):
        cdef int header = self.byte()
        cdef int kind = header & 0x0F
        cdef size_t count = self.count(<uint64_t> (header >> 4) if header < 0xF0 else self.varint(32))
        depth = self.deeper(depth)
        return self.make_items(kind, [self.value(kind, depth) for _ in range(count)])

    cdef object pairs(self, int depth):
        cdef size_t count = self.count(self.varint(32))
        cdef int kinds
        if count == 0:
            return self.make_pairs(0, 0, [])
        kinds = self.byte()
        depth = self.deeper(depth)
        return self.make_pairs(kinds >> 4, kinds & 0x0F, [
            (self.value(kinds >> 4, depth), self.value(kinds & 0x0F, depth)) for _ in range(count)
        ])


def read_thrift(data, int64_t start, str what, make_struct, make_items, make_pairs, int max_depth):
    """The struct that begins at byte `start`, and where it ends."""
    cdef ThriftReader reader = ThriftReader.__new__(ThriftReader)
    reader.source = Source(data, "data")
    if start < 0 or <uint64_t> start > reader.source.size:
        raise ValueError(f"byte {start} of {reader.source.size}")
    reader.at, reader.what, reader.max_depth = <size_t> start, what, max_depth
    reader.make_struct, reader.make_items, reader.make_pairs = make_struct, make_items, make_pairs
    struct = reader.struct(0)
    return struct, reader.at
# --- Search and single rows: fsst.compute, FsstArray.reader -------------------------------------


cdef extern from "csrc/search_column.hpp" namespace "fsst" nogil:
    cdef enum class Affix(int):
        whole
        prefix
        suffix

    cbool search_column[Offset](
        const DecodeTable& table, const Rows[Offset]& rows, string needle, cbool ignore_case, uint8_t* bits, Isa instructions,
        size_t threads, Interrupt& interrupt) except +
    cbool locate_column[Offset, Length](
        const DecodeTable& table, const Rows[Offset]& rows, string needle, cbool ignore_case, cbool count,
        const uint8_t* bits, Length* results, Isa instructions, size_t threads, Interrupt& interrupt) except +
    cbool compare_column[Offset](
        const DecodeTable& table, const Rows[Offset]& rows, string text, Affix affix, cbool ignore_case,
        uint8_t* bits, Isa instructions, size_t threads, Interrupt& interrupt) except +
    Outcome keep_like_rows[Offset](
        const DecodeTable& table, const Rows[Offset]& rows, const uint16_t* pattern, size_t parts, cbool utf8,
        uint8_t* bits, Isa instructions, Interrupt& interrupt) except +
    Outcome byte_lengths[Offset, Length](
        const DecodeTable& table, const Rows[Offset]& rows, Length* lengths, Isa instructions, cbool& ascii,
        Interrupt& interrupt) noexcept
    void character_lengths[Offset, Length](
        const DecodeTable& table, const Rows[Offset]& rows, Length* lengths, Interrupt& interrupt) noexcept


cdef extern from "csrc/gather.hpp" namespace "fsst" nogil:
    Outcome check_picked[Offset](
        const Rows[Offset]& rows, size_t data_size, const int64_t* indices, size_t count,
        Interrupt& interrupt) noexcept
    const size_t kCopyRoom
    void copy_picked[Offset](
        const Rows[Offset]& rows, const int64_t* indices, size_t count, uint8_t* codes, int64_t* ends,
        Interrupt& interrupt) noexcept


def open_rows(data, offsets, bint wide, int64_t first, int64_t count):
    """Rows whose offsets have been checked, for the functions below."""
    return open_column(data, offsets, wide, first, count)


cdef Buffer zeros(size_t size):
    cdef Buffer buffer = allocate(size)
    memset(buffer.data, 0, size)
    return buffer


def search(Table table, Column column, bytes needle, bint ignore_case, size_t threads):
    """A bit for each row whose text contains `needle`, which is not empty."""
    cdef Buffer bits = zeros((column.count + 7) // 8)
    cdef Signals signals = Signals()
    cdef string text = needle
    cdef cbool done
    if text.empty():
        raise ValueError("the needle is empty")
    with nogil:
        if column.wide:
            done = search_column(table.decoder[0], column.wide_rows(), text, ignore_case, bits.data, isa, threads,
                                 signals.interrupt[0])
        else:
            done = search_column(table.decoder[0], column.narrow_rows(), text, ignore_case, bits.data, isa, threads,
                                 signals.interrupt[0])
    if not done:
        raise signals.error
    return bits


def locate(Table table, Column column, bytes needle, bint ignore_case, bint count, bint wide_result,
           size_t threads):
    """Where `needle` occurs first in each row (-1: nowhere), or with `count` how often, as int32 or int64."""
    cdef Buffer bits = search(table, column, needle, ignore_case, threads)
    cdef Buffer results = allocate(column.count * (8 if wide_result else 4))
    cdef Signals signals = Signals()
    cdef string text = needle
    cdef cbool done
    with nogil:
        if column.wide and wide_result:
            done = locate_column(table.decoder[0], column.wide_rows(), text, ignore_case, count, bits.data,
                                 <int64_t*> results.data, isa, threads, signals.interrupt[0])
        elif column.wide:
            done = locate_column(table.decoder[0], column.wide_rows(), text, ignore_case, count, bits.data,
                                 <int32_t*> results.data, isa, threads, signals.interrupt[0])
        elif wide_result:
            done = locate_column(table.decoder[0], column.narrow_rows(), text, ignore_case, count, bits.data,
                                 <int64_t*> results.data, isa, threads, signals.interrupt[0])
        else:
            done = locate_column(table.decoder[0], column.narrow_rows(), text, ignore_case, count, bits.data,
                                 <int32_t*> results.data, isa, threads, signals.interrupt[0])
    if not done:
        raise signals.error
    return results


def compare(Table table, Column column, bytes constant, str affix, bint ignore_case, size_t threads):
    """A bit for each row that is equal to (`affix` "whole"), begins with or ends in `constant`."""
    cdef Buffer bits = allocate((column.count + 7) // 8)
    cdef Signals signals = Signals()
    cdef string text = constant
    cdef Affix how = Affix.whole if affix == "whole" else Affix.prefix if affix == "prefix" else Affix.suffix
    cdef cbool done
    with nogil:
        if column.wide:
            done = compare_column(table.decoder[0], column.wide_rows(), text, how, ignore_case, bits.data, isa, threads,
                                  signals.interrupt[0])
        else:
            done = compare_column(table.decoder[0], column.narrow_rows(), text, how, ignore_case, bits.data, isa, threads,
                                  signals.interrupt[0])
    if not done:
        raise signals.error
    return bits


def invert(Buffer bits):
    """The complement of a bitmap, in place."""
    cdef size_t i
    for i in range(bits.size):
        bits.data[i] = ~bits.data[i]
    return bits


def like(Table table, Column column, pattern, bint utf8, bytes piece, size_t threads):
    """A bit for each row that is like `pattern`: bytes, 256 for any character, 257 for anything.

    `piece` is a part of it that every such row contains, or empty.
    """
    cdef Buffer bits
    cdef vector[uint16_t] parts
    cdef Signals signals = Signals()
    cdef Outcome outcome
    if piece:
        bits = search(table, column, piece, False, threads)
    else:
        bits = allocate((column.count + 7) // 8)
        memset(bits.data, 255, bits.size)
    for part in pattern:
        parts.push_back(part)
    with nogil:
        if column.wide:
            outcome = keep_like_rows(table.decoder[0], column.wide_rows(), parts.data(), parts.size(), utf8, bits.data,
                                     isa, signals.interrupt[0])
        else:
            outcome = keep_like_rows(table.decoder[0], column.narrow_rows(), parts.data(), parts.size(), utf8,
                                     bits.data, isa, signals.interrupt[0])
    signals.raise_error()
    check(outcome, "codes")
    return bits


def lengths(Table table, Column column, bint wide_result, bint characters):
    """Each row's length in bytes, or in UTF-8 characters, as int32 or int64; None where int32 are too narrow."""
    cdef Buffer results = allocate(column.count * (8 if wide_result else 4))
    cdef Signals signals = Signals()
    cdef Outcome outcome
    cdef cbool ascii = False
    with nogil:
        if column.wide and wide_result:
            outcome = byte_lengths(table.decoder[0], column.wide_rows(), <int64_t*> results.data, isa, ascii,
                                   signals.interrupt[0])
        elif column.wide:
            outcome = byte_lengths(table.decoder[0], column.wide_rows(), <int32_t*> results.data, isa, ascii,
                                   signals.interrupt[0])
        elif wide_result:
            outcome = byte_lengths(table.decoder[0], column.narrow_rows(), <int64_t*> results.data, isa, ascii,
                                   signals.interrupt[0])
        else:
            outcome = byte_lengths(table.decoder[0], column.narrow_rows(), <int32_t*> results.data, isa, ascii,
                                   signals.interrupt[0])
    signals.raise_error()
    if outcome.status == Status.offsets_overflow:
        return None
    check(outcome, "codes")
    if not characters or ascii:
        return results
    with nogil:
        if column.wide and wide_result:
            character_lengths(table.decoder[0], column.wide_rows(), <int64_t*> results.data, signals.interrupt[0])
        elif column.wide:
            character_lengths(table.decoder[0], column.wide_rows(), <int32_t*> results.data, signals.interrupt[0])
        elif wide_result:
            character_lengths(table.decoder[0], column.narrow_rows(), <int64_t*> results.data, signals.interrupt[0])
        else:
            character_lengths(table.decoder[0], column.narrow_rows(), <int32_t*> results.data, signals.interrupt[0])
    signals.raise_error()
    return results


def gather(Table table, data, offsets, bint wide, int64_t first, int64_t count, indices, bint out_wide,
           bint utf8=False):
    """The text of the rows that int64 `indices` pick (negative: an empty text), and its offsets.

    With `utf8` the rows must be that.

    Only the picked rows' offsets and codes are checked. Where 4 bytes do not hold the offsets the result is
    ``(None, total)``.
    """
    cdef Source bytes = Source(b"" if data is None else data, "data")
    cdef Source source = Source(b"" if offsets is None else offsets, "offsets")
    cdef Source picked = Source(indices, "indices")
    cdef size_t width = 8 if wide else 4
    cdef size_t out_width = 8 if out_wide else 4
    cdef size_t wanted = picked.size // 8
    cdef Rows[int32_t] narrow
    cdef Rows[int64_t] broad
    cdef Outcome outcome
    if first < 0 or count < 0 or <size_t> (first + count) >= source.size // width or (
        <size_t> source.data % width != 0 or (picked.size > 0 and <size_t> picked.data % 8 != 0)
    ):
        raise ValueError(f"{count} rows from row {first} on are not in the offsets, or these are not aligned")
    narrow.data, narrow.offsets, narrow.count = bytes.data, <const int32_t*> source.data + first, <size_t> count
    broad.data, broad.offsets, broad.count = bytes.data, <const int64_t*> source.data + first, <size_t> count
    cdef int64_t* at = <int64_t*> picked.data
    cdef Signals signals = Signals()
    with nogil:
        if wide:
            outcome = check_picked(broad, bytes.size, at, wanted, signals.interrupt[0])
        else:
            outcome = check_picked(narrow, bytes.size, at, wanted, signals.interrupt[0])
    signals.raise_error()
    check(outcome, "codes")
    cdef Buffer codes = allocate(<uint64_t> outcome.size + kCopyRoom)
    cdef Buffer code_ends = allocate((wanted + 1) * 8)
    cdef int64_t* borders = <int64_t*> code_ends.data
    borders[0] = 0
    with nogil:
        if wide:
            copy_picked(broad, at, wanted, codes.data, borders + 1, signals.interrupt[0])
        else:
            copy_picked(narrow, at, wanted, codes.data, borders + 1, signals.interrupt[0])
    signals.raise_error()
    cdef Rows[int64_t] copied
    copied.data, copied.offsets, copied.count = codes.data, borders, wanted
    cdef Buffer ends = allocate((wanted + 1) * out_width)
    cdef Measured measured
    memset(ends.data, 0, out_width)
    with nogil:
        if out_wide:
            measured = measure_column(table.decoder[0], copied, <int64_t*> ends.data + 1, isa, 1, signals.interrupt[0])
        else:
            measured = measure_column(table.decoder[0], copied, <int32_t*> ends.data + 1, isa, 1, signals.interrupt[0])
    if measured.interrupted:
        raise signals.error
    outcome = measured.outcome
    if outcome.status == Status.offsets_overflow or (
        outcome.status == Status.ok and not out_wide and outcome.size > limit_of_narrow
    ):
        return None, outcome.size
    cdef int64_t row
    if outcome.status != Status.ok:
        # In the words of the column, not of the copy.
        row = at[outcome.row]
        outcome.position += (broad.offsets[row] if wide else narrow.offsets[row]) - borders[outcome.row]
        outcome.row = row
        check(outcome, "codes")
    cdef size_t size = <size_t> outcome.size
    cdef Buffer text = allocate(size)
    cdef int64_t invalid
    with nogil:
        if out_wide:
            invalid = decode_column(table.decoder[0], copied, measured, <const int64_t*> ends.data, text.data, utf8, isa,
                                    1, signals.interrupt[0])
        else:
            invalid = decode_column(table.decoder[0], copied, measured, <const int32_t*> ends.data, text.data, utf8, isa,
                                    1, signals.interrupt[0])
    if invalid == -2:
        raise signals.error
    if invalid >= 0:
        raise CorruptDataError(f"codes: row {at[invalid]} decompresses to bytes that are not UTF-8")
    return text, ends


cdef class Reader:
    """A column's rows as Python objects, read one at a time from the raw buffers; a read-only sequence.

    Made by `FsstArray.reader`. Holds the buffers, so it lives as long as it is needed. A row's offsets and
    codes are checked when the row is read.
    """

    cdef Table table
    cdef Source bytes
    cdef Source offsets
    cdef Source validity
    cdef int64_t first
    cdef int64_t rows
    cdef bint wide
    cdef bint text
    cdef int64_t fixed

    # Not __init__, which could be called again: reading relies on what is checked here, and no more than once.
    def __cinit__(self, Table table not None, data, offsets, bint wide, int64_t first, int64_t count, validity,
                  bint text, int64_t fixed):
        self.table = table
        self.bytes = Source(b"" if data is None else data, "data")
        self.offsets = Source(b"" if offsets is None else offsets, "offsets")
        self.wide, self.text, self.fixed = wide, text, fixed
        if first < 0 or count < 0 or (
            count > 0 and <size_t> (first + count) >= self.offsets.size // (8 if wide else 4)
        ):
            raise ValueError(f"{count} rows from row {first} on are not in the offsets")
        if validity is not None:
            self.validity = Source(validity, "validity")
            if <uint64_t> (first + count) > 8 * <uint64_t> self.validity.size:
                raise ValueError(f"{first + count} rows are not in the validity")
        self.first, self.rows = first, count

    def __len__(self):
        return self.rows

    def __getitem__(self, key):
        cdef int64_t row
        if isinstance(key, slice):
            return [self.read(row) for row in range(*key.indices(self.rows))]
        try:
            row = key
        except OverflowError:
            raise IndexError(f"row {key} of a column of {self.rows} rows") from None
        if row < 0:
            row += self.rows
        if not 0 <= row < self.rows:
            raise IndexError(f"row {key} of a column of {self.rows} rows")
        return self.read(row)

    def __iter__(self):
        cdef int64_t row
        for row in range(self.rows):
            yield self.read(row)

    def __reversed__(self):
        return (self[row] for row in range(self.rows - 1, -1, -1))

    def __contains__(self, value):
        return any(row == value for row in self)

    def index(self, value, start=0, stop=None):
        """The first row from `start` to `stop` that is `value`; ValueError if there is none."""
        for row in range(*slice(start, stop).indices(self.rows)):
            if self[row] == value:
                return row
        raise ValueError(f"{value!r} is not in the column")

    def count(self, value):
        """How many rows are `value`."""
        return sum(1 for row in self if row == value)

    def __repr__(self):
        return f"<fsst reader of {self.rows} rows>"

    cdef object read(self, int64_t row):
        cdef int64_t at = self.first + row
        cdef int64_t pair[3]
        cdef int32_t narrow[2]
        cdef Rows[int64_t] rows
        cdef Outcome outcome
        cdef uint8_t small[1024]
        cdef uint8_t* text = small
        cdef Buffer large
        if self.validity is not None and not self.validity.data[at >> 3] >> (at & 7) & 1:
            return None
        if self.wide:
            memcpy(pair, self.offsets.data + at * 8, 16)
        else:
            memcpy(narrow, self.offsets.data + at * 4, 8)
            pair[0], pair[1] = narrow[0], narrow[1]
        if not (0 <= pair[0] <= pair[1] and <size_t> pair[1] <= self.bytes.size):
            raise CorruptDataError(f"row {row} has offsets {pair[0]} and {pair[1]}, "
                                   f"the codes have {self.bytes.size} bytes")
        # A second row tells how far the bytes reach, beyond this one.
        pair[2] = <int64_t> self.bytes.size
        rows.data, rows.offsets, rows.count = self.bytes.data, pair, 2
        if decode_row_bound(<size_t> (pair[1] - pair[0])) > sizeof(small):
            large = allocate(decode_row_bound(<size_t> (pair[1] - pair[0])))
            text = large.data
        outcome = decode_row(self.table.decoder[0], rows, 0, text)
        if outcome.status != Status.ok:
            outcome.row = row
            check(outcome, "codes")
        if self.text:
            try:
                return PyUnicode_DecodeUTF8(<const char*> text, <Py_ssize_t> outcome.size, NULL)
            except UnicodeDecodeError as error:
                raise CorruptDataError(f"row {row} decompresses to bytes that are not UTF-8: {error}") from None
        if self.fixed >= 0 and outcome.size != self.fixed:
            raise CorruptDataError(f"row {row} of type fixed_size_binary[{self.fixed}] has {outcome.size} bytes")
        return PyBytes_FromStringAndSize(<const char*> text, <Py_ssize_t> outcome.size)


Sequence.register(Reader)
