"""The string leaves of nested columns: visit them, and rebuild the nesting around the result.

Lists, structs and maps may hide rows behind nulls and slices. What is rebuilt holds only the rows that
can be seen, so nothing hidden reaches a leaf.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from fsst.errors import CorruptDataError

__all__ = ["has_leaf", "map_leaves"]

# Given arrays of one type (the pieces of one column) the visitor returns as many of another.
Visitor = Callable[[list[pa.Array], pa.DataType], list[pa.Array]]
Wanted = Callable[[pa.DataType], bool]


def _is_list(nested: pa.DataType) -> bool:
    return bool(pa.types.is_list(nested) or pa.types.is_large_list(nested))


def _children(nested: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(nested):
        return [nested.field(i) for i in range(nested.num_fields)]
    if pa.types.is_map(nested):
        return [nested.key_field, nested.item_field]
    if _is_list(nested) or pa.types.is_fixed_size_list(nested):
        return [nested.value_field]
    return []


def has_leaf(data_type: pa.DataType, wanted: Wanted) -> bool:
    """Whether a leaf of `data_type`, or it itself, is wanted."""
    return wanted(data_type) or any(has_leaf(child.type, wanted) for child in _children(data_type))


def map_leaves(arrays: list[pa.Array], data_type: pa.DataType, wanted: Wanted, visit: Visitor) -> list[pa.Array]:
    """Replace the wanted leaves of `arrays`, all of `data_type`, by what `visit` makes of them.

    Each leaf is visited once, with its pieces from all arrays. What holds no wanted leaf is kept as it is.

    Raises
    ------
    CorruptDataError
        Lengths or offsets of lists, structs or maps break Arrow's format. Files may bring such, which pyarrow follows.
    """
    if not wanted(data_type) and has_leaf(data_type, wanted):
        for array in arrays:
            try:
                array.validate()
            except pa.ArrowInvalid as error:
                raise CorruptDataError(f"{data_type}: {error}") from None
    return _map_leaves(arrays, data_type, wanted, visit)


def _map_leaves(arrays: list[pa.Array], data_type: pa.DataType, wanted: Wanted, visit: Visitor) -> list[pa.Array]:
    if wanted(data_type):
        return visit(arrays, data_type)
    if not has_leaf(data_type, wanted):
        return arrays
    if pa.types.is_struct(data_type):
        return _map_struct(arrays, data_type, wanted, visit)
    if pa.types.is_fixed_size_list(data_type):
        return _map_fixed_size_list(arrays, data_type, wanted, visit)
    return _map_list(arrays, data_type, wanted, visit)


def _validity(array: pa.Array) -> pa.Buffer | None:
    """The validity of `array` as a bitmap that starts at its first row. (A stream may tell a wrong number of nulls.)"""
    return array.is_valid().buffers()[1] if array.null_count else None


def _map_struct(arrays: list[pa.Array], data_type: pa.DataType, wanted: Wanted, visit: Visitor) -> list[pa.Array]:
    # flatten, unlike field, leaves out what lies outside a slice or below a null.
    flat = [array.flatten() for array in arrays]
    fields = _children(data_type)
    columns = [
        _map_leaves([children[i] for children in flat], field.type, wanted, visit) for i, field in enumerate(fields)
    ]
    return [
        pa.StructArray.from_arrays(
            [column[i] for column in columns],
            fields=[field.with_type(column[i].type) for field, column in zip(fields, columns, strict=True)],
            mask=array.is_null() if array.null_count else None,
        )
        for i, array in enumerate(arrays)
    ]


def _map_list(arrays: list[pa.Array], data_type: pa.DataType, wanted: Wanted, visit: Visitor) -> list[pa.Array]:
    """Lists, large lists and maps: the visible values back to back, and offsets made anew."""
    is_map = pa.types.is_map(data_type)
    offset_type = np.dtype(np.int64 if pa.types.is_large_list(data_type) else np.int32)
    new_offsets = []
    values = []
    for array in arrays:
        if is_map:
            value = pa.StructArray.from_arrays([array.keys, array.items], fields=_children(data_type))
        else:
            value = array.values
        # Offsets refer to all of the values, whatever slice this is; buffers() is not offset-adjusted.
        offsets = np.zeros(1, offset_type)
        if len(array):
            offsets = np.frombuffer(
                array.buffers()[1], offset_type, len(array) + 1, array.offset * offset_type.itemsize
            )
        visible, offsets = _visible_values(value, offsets, array)
        values.append(visible)
        new_offsets.append(offsets)
    mapped = _map_leaves(values, values[0].type, wanted, visit)
    child = mapped[0].type
    if is_map:
        fields = (data_type.key_field.with_type(child[0].type), data_type.item_field.with_type(child[1].type))
        new_type = pa.map_(*fields, keys_sorted=data_type.keys_sorted)
    else:
        make = pa.large_list if pa.types.is_large_list(data_type) else pa.list_
        new_type = make(data_type.value_field.with_type(child))
    return [
        pa.Array.from_buffers(new_type, len(array), [_validity(array), pa.py_buffer(offsets)], -1, 0, [value])
        for array, offsets, value in zip(arrays, new_offsets, mapped, strict=True)
    ]


def _visible_values(value: pa.Array, offsets: np.ndarray, array: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The part of `value` that the lists of `array` show, and their offsets into that."""
    lengths = np.diff(offsets)
    if (lengths < 0).any():
        row = int(np.argmax(lengths < 0))
        raise CorruptDataError(
            f"{array.type}: row {row} ends at {offsets[row + 1]}, before its start at {offsets[row]}"
        )
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        if lengths[~valid].any():
            # Nulls hide values: keep the runs between them. (ListArray.flatten cannot do it for all types.)
            edges = np.flatnonzero(np.diff(valid.astype(np.int8), prepend=0, append=0))
            runs = [
                value.slice(int(offsets[start]), int(offsets[end] - offsets[start]))
                for start, end in edges.reshape(-1, 2)
            ]
            lengths[~valid] = 0
            shown = pa.concat_arrays(runs) if runs else value.slice(0, 0)
            return shown, np.concatenate([[0], np.cumsum(lengths)]).astype(offsets.dtype)
    start, end = int(offsets[0]), int(offsets[-1])
    return value.slice(start, end - start), offsets - offsets[0]


def _map_fixed_size_list(
    arrays: list[pa.Array], data_type: pa.DataType, wanted: Wanted, visit: Visitor
) -> list[pa.Array]:
    size = data_type.list_size
    values = []
    for array in arrays:
        value = array.values.slice(array.offset * size, len(array) * size)
        if array.null_count and size:
            # What a null hides becomes null itself: the positions have to stay.
            valid = array.is_valid().to_numpy(zero_copy_only=False)
            edges = np.flatnonzero(np.diff(valid.astype(np.int8), prepend=1 - valid[0])).tolist()
            runs = [
                value.slice(start * size, (end - start) * size)
                if valid[start]
                else pa.nulls((end - start) * size, value.type)
                for start, end in zip(edges, [*edges[1:], len(array)], strict=True)
            ]
            value = pa.concat_arrays(runs)
        values.append(value)
    mapped = _map_leaves(values, data_type.value_type, wanted, visit)
    new_type = pa.list_(data_type.value_field.with_type(mapped[0].type), size)
    return [
        pa.Array.from_buffers(new_type, len(array), [_validity(array)], -1, 0, [value])
        for array, value in zip(arrays, mapped, strict=True)
    ]
