"""FSST-compressed string columns with random access, for Apache Arrow.

>>> import fsst, pyarrow as pa
>>> column = fsst.compress(pa.array(["https://example.org/a", "https://example.org/b", None]))
>>> column[1].as_py()
'https://example.org/b'
>>> fsst.decompress(column).type
DataType(string)

`fsst.codec` works on raw buffers, for encoders of your own.
"""

from fsst import codec
from fsst.array import FsstArray, FsstScalar, FsstType
from fsst.convert import compress, decompress, train
from fsst.errors import CorruptDataError, FsstError
from fsst.symbol_table import SymbolTable

__version__ = "0.1.0"

__all__ = [
    "CorruptDataError",
    "FsstArray",
    "FsstError",
    "FsstScalar",
    "FsstType",
    "SymbolTable",
    "codec",
    "compress",
    "decompress",
    "train",
]
