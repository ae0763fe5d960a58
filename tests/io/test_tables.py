"""Arrays, tensors and tables of other packages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from rote.errors import DataError, ScoreError
from rote.io.tables import (
    as_array,
    check_names,
    column,
    columns_of,
    grouped,
    in_runs,
    like,
    numbers,
)

CONTENT = {"b": [1, 2, 1], "a": [0.5, -np.inf, np.nan]}
TABLES = [pd.DataFrame(CONTENT, index=[7, 8, 9]), pl.DataFrame(CONTENT), pa.table(CONTENT)]
every_table = pytest.mark.parametrize("table", TABLES, ids=["pandas", "polars", "pyarrow"])


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool]
)
def test_tensors_are_arrays_with_or_without_gradients(dtype):
    values = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    values.requires_grad_(dtype.is_floating_point)
    found = as_array(values)
    assert found.tolist() == [[0, 1], [1, 0]]
    assert found.dtype.kind == ("f" if dtype.is_floating_point else found.dtype.kind)


@every_table
def test_columns_are_found_by_their_names(table):
    columns = columns_of(table)
    assert [*columns] == ["b", "a"]
    np.testing.assert_array_equal(
        numbers(columns, ["a", "b"]), np.array([*CONTENT.values()])[::-1].T
    )
    assert numbers(columns, []).shape == (0, 0)
    with pytest.raises(DataError, match="no column 'c'; there are b, a"):
        column(columns, "c")
    with pytest.raises(ScoreError, match="missing: c, d; unknown: b"):
        check_names(columns, ["a", "c", "d"])
    with pytest.raises(ScoreError, match=r"by its name; missing: c$"):
        numbers(columns, ["a", "c"])


@every_table
def test_a_new_column_is_of_the_kind_of_the_table(table):
    found = like(table, ["x", None, "z"], "label")
    assert type(found).__module__.partition(".")[0] == type(table).__module__.partition(".")[0]
    assert len(found) == 3
    if isinstance(table, pd.DataFrame):
        assert found.index.tolist() == [7, 8, 9]
        assert found.tolist() == ["x", None, "z"]


@pytest.mark.parametrize("other", [[1.0], np.zeros(2), {"a": [1]}, "text", None, pd.Series([1])])
def test_what_is_no_table(other):
    assert columns_of(other) is None
    assert grouped(other) is None


def test_groups_keep_the_order_of_their_rows():
    for given in (TABLES[0].groupby("b"), TABLES[1].group_by("b"), TABLES[1].group_by(["b"])):
        table, keys = grouped(given)
        assert len(table) == 3
        rows, sizes, named = in_runs(keys)
        assert rows.tolist() == [0, 2, 1]
        assert sizes.tolist() == [2, 1]
        assert len(named) == 2
    assert in_runs([])[0].shape == (0,)
    with pytest.raises(DataError, match="row 1 is of no group: its key is nan"):
        in_runs([1, float("nan")])
