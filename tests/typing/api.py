"""What users write, as the type checker sees it. Never run, only checked by `make check`."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import rote
from rote import (
    BranchAndBound,
    Chain,
    Duals,
    Elimination,
    Engine,
    Exact,
    Exhaustive,
    FoundBy,
    Independent,
    InfeasibleSpace,
    Milp,
    Model,
    Picture,
    Problem,
    RoteError,
    Rule,
    Solutions,
    Space,
    SpaceBuilder,
    Status,
    Tree,
    Variable,
    all_different,
    all_of,
    any_of,
    at_least,
    at_most,
    clamp,
    count,
    dual_bound,
    exactly,
    k_best,
    max_marginals,
    one_of,
    show,
    template,
)


def a_space_is_built_from_variables_factors_and_rules() -> Space:
    builder = SpaceBuilder()
    x = builder.variable("x", ["a", "b"])
    y = builder.variable("y", ("a", "b", "c"))
    assert_type(x, Variable)
    builder.factor(x, y, name="pair")
    builder.require(x["a"] >> y["c"])
    builder.require(x["a"] & y["c"] | ~y["b"], name="either")
    builder.require(2 * x["a"] + y["b"] - 1 <= 1)
    builder.require(count(x["a"], [y["a"], y["b"]]) == 1)
    builder.require(count(x["a"]) <= count(y["a"]))
    builder.require(count(x["a"], y["a"]) != 1)
    builder.require(all_different(x, y))
    builder.require(one_of([x, y], [("a", "b"), ("b", "a")]))
    return builder.build()


def every_way_to_join_rules_gives_a_rule(x: Variable) -> list[Rule]:
    rules = [x[label] for label in x.labels]
    return [
        all_of(rules),
        any_of(*rules),
        at_most(1, rules),
        at_least(1, *rules),
        exactly(1, rules),
        ~rules[0],
        rules[0] >> at_most(1, rules),
    ]


def a_variable_is_no_rule_without_a_label(x: Variable) -> list[object]:
    return [
        x & x["a"],  # type: ignore[operator]
        x | x["a"],  # type: ignore[operator]
        x >> x["a"],  # type: ignore[operator]
        ~x,  # type: ignore[operator]
        x["a"] ^ x["b"],  # type: ignore[operator]
    ]


@template
def sentence(
    builder: SpaceBuilder, words: int, *, labels: tuple[str, ...] = ("B", "I", "O")
) -> None:
    for i in range(words):
        builder.variable(f"tag {i}", labels)


def a_template_keeps_its_arguments() -> Space:
    return sentence(4, labels=("a", "b"))


def every_engine_fits_the_seam() -> list[Engine]:
    return [
        Exact(),
        Exact(time_limit=1.0),
        Exhaustive(),
        Independent(),
        Chain(order=2),
        Tree(),
        Elimination(),
        BranchAndBound(node_limit=1000, time_limit=1.0),
        Milp(solver="highs", gap=0.01),
    ]


def an_answer_carries_its_proof(engine: Engine, space: Space, scores: NDArray[np.float64]) -> None:
    answer = engine.solve(space, scores)
    assert_type(answer, Solutions)
    assert_type(answer.labels, NDArray[np.int64])
    assert_type(answer.value, NDArray[np.float64])
    assert_type(answer.bound, NDArray[np.float64])
    assert_type(answer.gap, NDArray[np.float64])
    assert_type(answer.optimal, NDArray[np.bool_])
    assert_type(space.decode(answer.labels), list[dict[str, str]])
    assert_type(Status(int(answer.status[0])), Status)
    assert_type(FoundBy(int(answer.source[0])), FoundBy)


def some_variables_may_be_given(engine: Engine, space: Space) -> Solutions:
    problem = clamp(space, space.scores({"x": {"a": 1.0}}), {"y": "b"})
    assert_type(problem, Problem)
    return engine.solve(space, problem)


def answers_can_be_looked_at(
    answer: Solutions, space: Space, model: Model[list[str], list[str]]
) -> None:
    assert_type(answer.show(space), Picture)
    assert_type(model.show(["a"], gold=["O"]), Picture)
    assert_type(show(model.task, ["a"], ["O"]), Picture)


def there_is_more_than_one_answer(space: Space, scores: NDArray[np.float64]) -> None:
    assert_type(k_best(space, scores, 3), list[Solutions])
    assert_type(k_best(space, scores, 3, engine=Tree()), list[Solutions])
    assert_type(max_marginals(space, scores), NDArray[np.float64])


def duals_bound_other_scores(space: Space, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    duals = Milp().duals(space, scores)
    assert_type(duals, Duals)
    assert_type(BranchAndBound().duals(space, scores), Duals)
    return dual_bound(space, scores + 0.1, duals)


def errors_form_one_tree(space: Space) -> tuple[str, ...]:
    try:
        Exact().solve(space, space.scores())
    except InfeasibleSpace as error:
        return error.conflicting_rules
    except RoteError as error:
        return (str(error),)
    return ()


assert_type(rote.__version__, str)
