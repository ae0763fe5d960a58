"""`Exact` looks at the space and chooses; ``source`` says what it chose.

A space of rules that is used for the first time, for one input, is not compiled: what presolve
leaves goes straight to a short branch and bound (`rote.inference.exact.presolve`). Otherwise:

1. No factors and no rules between variables: the best label of each variable.
2. A chain or a tree: max-sum in one pass.
3. No factors, and the best labels happen to obey the rules: these, input by input.
4. Variable elimination, where its tables stay small.
5. A chain of higher order, where elimination was too much.
6. Rules over many variables are left out where that saves work; what breaks none of them is the
   answer (`LazyRows`).
7. Few labels, most of which are joined in pairs: one tree for inputs whose tables are equal.
8. Message passing, where all tables are over pairs; what it does not settle goes on with the labels
   that are still open.
9. Branch and bound, presolve and solvers, in turns (`rote.inference.exact.portfolio`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rote.inference.engine import Capability, Engine
from rote.inference.problem import NO_CONTEXT, Context, Problem, WarmStart
from rote.inference.solutions import Solutions
from rote.settings import LIMIT
from rote.space.language import Acyclic
from rote.space.space import Space

# What solves is imported by the functions that need it: a process that starts loads no more.
if TYPE_CHECKING:
    from rote.inference.exact.lazy_rows import LazyRows
    from rote.kernels.bundles import ChainPlan

# Beyond so many candidates, branch and bound on what cheap elimination leaves is faster.
FEW_CANDIDATES = 1 << 12
# Nodes of a shared tree for one input: some tenths of a second, and fewer where less than one is
# given.
VISITS = 1 << 22
NODES_IN_TIME = 1 << 8  # of message passing under a time limit, which it does not look at
# Nodes, times variables, of a search that begins with the last answer: some tens of milliseconds.
SHORT_SEARCH, IN_ORDER = 1 << 21, 1 << 24


@dataclass(frozen=True)
class Exact(Engine):
    """The best output, proved, by whatever suits the space.

    Parameters
    ----------
    time_limit
        Seconds for one input, above 0; None is no limit. Local search, branch and bound and solvers
        share it, and the best output found by then is returned with a bound. Spaces that a single
        pass solves do not look at the clock.
    """

    time_limit: float | None = None

    checks: ClassVar = {"time_limit": LIMIT}
    capabilities = frozenset({Capability.WARM_STARTS})

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        if space.is_new() and len(problem) == 1 and _is_made_of_rules(space) and not cut(space):
            from rote.inference.exact.presolve import Presolved, graph_of_rules

            presolved = Presolved.of(problem, graph_of_rules(space))
            if space.factors:
                return presolved.answers(lambda rest: self._compiled(rest, NO_CONTEXT))
            return presolved.answers(lambda rest: self._search(rest, NO_CONTEXT), anew=True)
        return self._compiled(problem, context)

    def _compiled(self, problem: Problem, context: Context) -> Solutions:
        """The answers by what is compiled once of a space."""
        route = route_of(problem.space)
        if not route.looks_first:
            return self._solve(route, problem, context)
        from rote.inference.exact.independent import argmax_presolve

        seen, hard = argmax_presolve(problem)
        if seen is None:
            return self._solve(route, problem, context)
        if not len(hard):
            return seen
        rest = self._solve(route, problem.rows(hard), context.rows(hard))
        return seen.with_rows(hard, rest)

    def warm_starts(self, space: Space) -> bool:
        if _is_made_of_rules(space) and not _is_hard(space):
            return False
        route = route_of(space)
        if not route.searches or not _is_hard(space):
            return route.messages
        from rote.inference.exact.branch import restarts

        return restarts(space)

    def is_quick(self, space: Space) -> bool:
        # Certificates are dual ascent, which takes longer than all that is tried here.
        return not self.warm_starts(space)

    def chain(self, space: Space) -> ChainPlan | None:
        chosen = route_of(space).one_pass
        return None if chosen is None else chosen.chain(space)

    def _solve(self, route: Route, problem: Problem, context: Context) -> Solutions:
        if route.one_pass is not None:
            return route.one_pass.answer(problem, NO_CONTEXT)
        if route.lazy is not None:
            lazy = route.lazy
            if self.time_limit is not None:
                lazy = replace(lazy, set_limit=1)  # it does not look at the clock
            found = lazy.answer(problem, NO_CONTEXT)
            if self.time_limit is None and len(found.unsettled) and cut(problem.space):
                from rote.inference.solvers.milp import Milp

                rest = Milp().within(problem.rows(found.unsettled), settle=True)
                return found.with_rows(found.unsettled, rest)
            return self._rest(problem, context, found)
        if route.dense:
            from rote.inference.exact.shared_tree import solve_together

            seconds = 1.0 if self.time_limit is None else min(1.0, float(self.time_limit))
            found = solve_together(problem, max(1, int(seconds * VISITS)))
            return self._rest(problem, context, found)
        if route.messages:
            from rote.inference.exact.message_passing import MessagePassing

            messages = MessagePassing(None if self.time_limit is None else NODES_IN_TIME)
            found, left = messages.attempt(problem, context)
            if left is None:
                return found
            return found.with_rows(left.rows, self._search(left.problem, left.context))
        return self._from_incumbents(problem, context)

    def _from_incumbents(self, problem: Problem, context: Context) -> Solutions:
        """A short search from the outputs of the context, and the long one where that is no proof.

        It does not look at the clock.
        """
        incumbent = None if context.warm is None else context.warm.incumbent
        if incumbent is None or self.time_limit is not None:
            return self._search(problem, context)
        from rote.inference.exact.branch import BranchAndBound, restarts

        if not restarts(problem.space) or incumbent[:, 0].min(initial=0) < 0:
            return self._search(problem, context)
        nodes = max(1, SHORT_SEARCH // len(problem.space.variables))
        found = BranchAndBound(nodes, tie_limit=IN_ORDER).restarted(problem, incumbent)
        left = found.unsettled
        if not len(left):
            return found
        return found.with_rows(left, self._search(problem.rows(left), context.rows(left)))

    def _rest(self, problem: Problem, context: Context, found: Solutions) -> Solutions:
        """The same with what the search says of the inputs that are not settled."""
        left = found.unsettled
        if not len(left):
            return found
        rest = problem.rows(left)
        searched = self._search(rest, context.rows(left))
        return found.with_rows(left, found.rows(left).improved(rest, searched))

    def _search(self, problem: Problem, context: Context) -> Solutions:
        from rote.inference.exact.portfolio import portfolio, within  # many solvers, rarely needed

        warm = context.warm
        if warm is not None:  # a search that starts from duals can eliminate nothing
            context = Context(warm=WarmStart(warm.incumbent))
        if self.time_limit is not None:
            return within(float(self.time_limit), problem, context)
        return portfolio(problem, context)


def _is_made_of_rules(space: Space) -> bool:
    """Whether compiling the space is not worth it, if it is used once.

    With as many factors as variables it may be a chain or a tree, which takes one pass.
    """
    return bool(space.rules) and 2 * len(space.factors) < len(space.variables)


def _is_hard(space: Space) -> bool:
    """Whether a search of the space was long before."""
    if not space.is_compiled:
        return False
    from rote.inference.exact.hardness import is_hard

    return is_hard(space)


def cut(space: Space) -> bool:
    """Whether rules against cycles are cut off; asked of spaces for which nothing is compiled."""
    return any(isinstance(named.rule, Acyclic) for named in space.rules)


class Route(NamedTuple):
    """What is tried of a space, in this order."""

    one_pass: Engine | None
    looks_first: bool  # the best labels may be the answer, and seeing that costs less than solving
    lazy: LazyRows | None
    dense: bool
    messages: bool

    @property
    def searches(self) -> bool:
        """Whether nothing is tried before branch and bound and solvers."""
        return self.one_pass is None and self.lazy is None and not self.dense and not self.messages


def route_of(space: Space) -> Route:
    """What `Exact` tries, before branch and bound and solvers take turns."""
    return space.once(_route)


def _route(space: Space) -> Route:
    from rote.inference.exact.lazy_rows import lazy_rows_for
    from rote.inference.exact.message_passing import MessagePassing
    from rote.inference.exact.shared_tree import is_dense

    if cut(space):
        from rote.inference.exact.cycle_cuts import cut_rules

        if cut_rules(space):
            return Route(None, False, lazy_rows_for(space), dense=False, messages=False)
    chosen = choice(space)
    is_direct = chosen is not None and chosen.one_pass
    looks_first = not (is_direct or space.factors or len(space.network.rows))
    if chosen is not None:
        return Route(chosen, looks_first, None, dense=False, messages=False)
    lazy = lazy_rows_for(space)
    dense = lazy is None and is_dense(space)
    messages = lazy is None and not dense and MessagePassing().accepts(space)
    return Route(None, looks_first, lazy, dense, messages)


def choice(space: Space) -> Engine | None:
    """The engine that solves a space by one method for all inputs; None where there is none."""
    return space.once(_choice)


def _choice(space: Space) -> Engine | None:
    from rote.inference.exact.chain import Chain
    from rote.inference.exact.elimination import Elimination
    from rote.inference.exact.independent import Independent
    from rote.inference.exact.tree import Tree

    options = (Independent(), Chain(order=1), Tree(), Elimination(FEW_CANDIDATES), Chain())
    return next((engine for engine in options if engine.accepts(space)), None)
