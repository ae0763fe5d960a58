"""Minimal sets, judged by looking at all sets of a few rules."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from rote.inference.minimal_sets import Clause, minimal_conflict, run, smallest_sets


def one_of(sets):
    """A search that says which set is not hit, for sets to hit."""

    def refuted(some):
        missed = yield some
        return None if missed is None else Clause(frozenset(), missed)

    return refuted, lambda some: next((each for each in sets if not each & some), None)


@given(st.integers(1, 6), st.data())
def test_smallest_sets_that_hit_a_family_and_minimal_conflicts_of_it(count, data):
    every = frozenset(range(count))
    family = data.draw(st.lists(st.frozensets(st.integers(0, count - 1), max_size=3), max_size=5))
    subsets = [frozenset(c) for k in range(count + 1) for c in itertools.combinations(every, k)]
    hitting = [s for s in subsets if all(s & each for each in family)]
    minimal = {s for s in hitting if not any(less < s for less in hitting)}
    refuted, answer = one_of(family)
    found = run(smallest_sets(refuted, 100), answer)
    assert (set(found.found), found.complete) == (minimal, True)
    small = run(smallest_sets(refuted, 100, most=1), answer)
    assert set(small.found) == {s for s in minimal if len(s) <= 1}
    few = run(smallest_sets(refuted, 1), answer)
    assert set(few.found) <= minimal
    assert few.complete <= (len(minimal) <= 1)

    def witness(kept):
        return None if any(each <= kept for each in family) else every - kept

    def ask(kept):
        broken = yield kept
        return broken

    conflict = run(minimal_conflict(every, ask), witness)
    assert (conflict in family) == bool(family) == (conflict is not None)
    assert not any(each < conflict for each in family if conflict is not None)


@given(st.data())
def test_smallest_sets_that_obey_clauses_none_of_which_is_known_before(data):
    some = st.frozensets(st.integers(0, 4), max_size=3)
    clauses = data.draw(st.lists(st.tuples(some, some).map(lambda two: Clause(*two)), max_size=5))
    subsets = [frozenset(c) for k in range(6) for c in itertools.combinations(range(5), k)]
    obey = [s for s in subsets if all(not c.all_of <= s or c.one_of & s for c in clauses)]

    def refuted(some):
        clause = yield some
        return clause

    def answer(some):
        return next((c for c in clauses if c.all_of <= some and not c.one_of & some), None)

    found = run(smallest_sets(refuted, 100), answer)
    assert found.complete
    assert set(found.found) == {s for s in obey if not any(less < s for less in obey)}


def test_what_hits_sets_of_which_there_may_be_more_is_not_known():
    def refuted(some):
        return None if some else Clause(frozenset(), frozenset([0, 1]))
        yield

    few = run(smallest_sets(refuted, 1), lambda _: None)
    assert (len(few.found), few.complete) == (1, False)
    assert few.hit(10).found == ()
    assert not few.hit(10).complete
    every = run(smallest_sets(refuted, 3), lambda _: None)
    assert every.hit(10).found == (frozenset([0, 1]),)
