"""Graphs as they are linked: places of tables, groups of rows, and the room that a search needs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bundles import as_arrays
from tests.strategies import rules_as_rows, spaces


@settings(max_examples=100)
@given(spaces(), st.sampled_from([None, 1]))
def test_all_that_hangs_together_is_linked(space, max_entries):
    with rules_as_rows(max_entries):
        network = space.network
        graph = as_arrays(network.graph)
    tables, flow = graph.tables, graph.flow
    scopes = [
        network.scope[a:b] for a, b in zip(tables.scope_ptr, tables.scope_ptr[1:], strict=False)
    ]
    in_scopes = [(b, j, scope) for b, scope in enumerate(scopes) for j in scope.tolist()]
    assert tables.place_table.tolist() == [b for b, _, _ in in_scopes]
    assert flow.up.astype(bool).tolist() == [j < scope.max() for _, j, scope in in_scopes]
    assert flow.down.astype(bool).tolist() == [j > scope.min() for _, j, scope in in_scopes]
    widths = [int(network.sizes[j]) for _, j, _ in in_scopes]
    assert np.diff(flow.message_ptr).tolist() == widths
    for j in range(network.variables):
        places = tables.places[tables.place_ptr[j] : tables.place_ptr[j + 1]].tolist()
        assert places == [k for k, (_, i, _) in enumerate(in_scopes) if i == j]
        ahead, behind = sum(flow.up[k] for k in places), sum(flow.down[k] for k in places)
        assert flow.share[j] == 1 / max(1, ahead, behind)
        assert len(places) * network.sizes[j] <= flow.max_marginals
    assert graph.widest == max([1, *network.sizes])


@settings(max_examples=100)
@given(spaces())
def test_the_columns_of_a_row_are_grouped_by_variable(space):
    with rules_as_rows(1):
        network = space.network
        rows = as_arrays(network.graph).rows
    given_rows = network.rows
    assert rows.ptr[-1] == len(rows.row) == len(rows.variable)
    for r in range(len(given_rows)):
        groups = range(rows.ptr[r], rows.ptr[r + 1])
        span = slice(given_rows.indptr[r], given_rows.indptr[r + 1])
        weights = dict(
            zip(given_rows.indices[span].tolist(), given_rows.data[span].tolist(), strict=True)
        )
        seen = []
        for g in groups:
            assert rows.row[g] == r
            v = rows.variable[g]
            columns = rows.column[rows.start[g] : rows.start[g + 1]].tolist()
            seen += columns
            labels = range(network.offsets[v], network.offsets[v + 1])
            assert set(columns) <= set(labels)
            every = [weights.get(e, 0.0) for e in labels]
            assert (rows.least[g], rows.most[g]) == (min(every), max(every))
        assert seen == list(weights)
    for j in range(network.variables):
        own = rows.of[rows.of_ptr[j] : rows.of_ptr[j + 1]].tolist()
        assert own == np.flatnonzero(rows.variable == j).tolist()
