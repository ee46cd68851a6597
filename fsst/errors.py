"""Exceptions of the package."""

__all__ = ["CorruptDataError", "FsstError"]


class FsstError(ValueError):
    """Base of the errors that are this package's own."""


class CorruptDataError(FsstError):
    """Stored data breaks its format: a table, codes, offsets or metadata that no writer produces.

    The message says where and shows the numbers.
    """
