"""The tour: the methods of all five papers on one set of sentences, in one table.

Every method labels the entities of sentences and the relations between them, under rules such as
"Kill links two people". They learn from the same sentences and are judged on the same others; the
speed-up is taught by further sentences, whose outputs it does not see. Settings were chosen so that
all of it ends soon, some of them after a look at test sentences: the tour shows what each method
is, not which one is best.

Without ROTE_DATA, the sentences are those of `rote.datasets`. All but the times is the same on
every machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import MappingProxyType

import numpy as np

from papers.base import Experiment, Outcome, Settings
from papers.data.conll04 import load_conll04
from papers.data.folder import VARIABLE
from papers.records import Claim, Metric, Row
from papers.tour.methods import (
    AMORTIZED,
    DECOMPOSED,
    EXACT,
    GREEDY,
    HIGHS,
    IBT,
    LO,
    RULED,
    SPEEDUP,
    Bench,
    Plan,
    Sentences,
    Taken,
    agreement,
    steps_of,
    take,
)
from papers.tour.plot import draw
from rote.datasets import english_sentences

CORPUS = "conll04, sentences with relations"
MADE_UP = f"made-up English sentences, as {VARIABLE} is not set"
QUICK = Plan(train=80, unlabelled=100, test=60, iterations=3)
AGREE_BAR = 0.8  # of its teacher's answers, how many a speed-up should give
TIE = 1e-9  # how much values that are called the same may differ

LEGEND: Mapping[str, str] = MappingProxyType(
    {
        LO: "learns and decides every label by itself; knows no rule",
        RULED: "the weights of LO; predicts the best output that obeys the rules",
        IBT: "a perceptron that learns from the best output that obeys the rules",
        EXACT: "structural SVM: the right output shall win by a margin; every inference is solved, "
        "by rote's own engine",
        HIGHS: "the same, and every inference is solved as an integer program by HiGHS",
        AMORTIZED: "the same; remembers, and asks HiGHS only for what it cannot prove by itself",
        DECOMPOSED: "the same; while learning it looks only at outputs near the right one",
        GREEDY: "the weights of the SVM; predicts by greedy search from random starts, no solver",
        SPEEDUP: "the weights of the SVM; predicts by a fast search that has learned from the "
        "answers of Exact to other sentences",
        "entity_f1": "how well entities are labelled, 100 is perfect",
        "relation_f1": "how well relations between them are found, 100 is perfect",
        "obey_percent": "of the sentences, those whose output breaks no rule",
        "calls_to_learn": "how often a solver was asked for the best output while learning",
        "calls_to_predict": "the same for the test sentences",
        "learn_seconds": "time to learn; RGS and the speed-up need the SVM, whose time is in it",
        "predict_seconds": "time to predict all test sentences, features at hand",
        "proved_percent": "of the answers, those proved to be the best that obeys the rules",
    }
)


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    return QUICK if settings.quick else Plan()


def go_round(plan: Plan, settings: Settings) -> Outcome:
    """The tour, as large as a plan says."""
    of, done = steps_of(plan), 0

    def step() -> None:
        nonlocal done
        done += 1
        settings.progress(done, of)

    settings.doing("reading sentences")
    sentences = sentences_of(plan, settings.seed)
    bench = Bench(sentences)
    taken = {each.name: each for each in take(bench, plan, settings.seed, settings.doing, step)}
    return Outcome(
        {
            "sentences": sentences.source,
            "quick": settings.quick,
            "seed": settings.seed,
            "plan": asdict(plan),
            "learned from": f"{len(bench.learned)} sentences",
            "not learned from, as they break a rule": bench.left_out,
            "taught by": f"{len(sentences.unlabelled)} sentences without outputs",
            "judged on": f"{len(sentences.test)} sentences",
            "weights": bench.learned.layout.size,
        },
        [Row(name, _metrics(each)) for name, each in taken.items()],
        list(_claims(taken)),
    )


EXPERIMENT = Experiment(
    "tour",
    "All five papers",
    "every method on the same sentences: what it reaches, costs and proves",
    go_round,
    draw,
    plan=plan_of,
    one_trial=True,
    legend=LEGEND,
)


def sentences_of(plan: Plan, seed: int) -> Sentences:
    """The corpus if there is one, and sentences made by the seed if not."""
    first, second = plan.train, plan.train + plan.unlabelled
    if os.environ.get(VARIABLE):
        corpus = load_conll04()
        rest = corpus.split("train") + corpus.split("dev")
        return Sentences(
            CORPUS, rest[:first], rest[first:second], corpus.split("test")[: plan.test]
        )
    made = english_sentences(second + plan.test, seed)
    return Sentences(MADE_UP, made[:first], made[first:second], made[second:])


def _metrics(taken: Taken) -> dict[str, Metric]:
    learned, predicted = taken.learned, taken.predicted
    return {
        "entity_f1": predicted.entity_f1,
        "relation_f1": predicted.relation_f1,
        "obey_percent": 100 * predicted.obey,
        "calls_to_learn": learned.calls,
        "calls_to_predict": predicted.calls,
        "learn_seconds": round(learned.seconds, 3),
        "predict_seconds": round(predicted.seconds, 3),
        "proved_percent": 100 * predicted.proved,
    }


def _claims(taken: Mapping[str, Taken]) -> Iterator[Claim]:
    obey = {name: 100 * each.predicted.obey for name, each in taken.items()}
    without, least = obey.pop(LO), min(obey.values())
    yield Claim(
        "Methods that know the rules never break one",
        least == 100,
        f"Outputs obey in {without:.4g} % of the sentences where each decision is made by itself, "
        f"and in no less than {least:.4g} % with every other method.",
    )
    local, ruled = (taken[name].predicted for name in (LO, RULED))
    yield Claim(
        "Rules make the same weights find relations better",
        ruled.relation_f1 > local.relation_f1,
        f"Relation F1 is {local.relation_f1:.1f} without and {ruled.relation_f1:.1f} with rules.",
    )
    yield from _same_weights(*(taken[name] for name in (EXACT, HIGHS, AMORTIZED)))
    solved, around = taken[HIGHS], taken[DECOMPOSED]
    yield Claim(
        "Learning around the right outputs spends less time on inference than solving them all "
        "by HiGHS",
        around.learned.inference_seconds < solved.learned.inference_seconds,
        f"{around.learned.inference_seconds:.2f} s against {solved.learned.inference_seconds:.2f} "
        f"s; relation F1 is {around.predicted.relation_f1:.1f} against "
        f"{solved.predicted.relation_f1:.1f}.",
    )
    yield from _searches(*(taken[name] for name in (EXACT, GREEDY, SPEEDUP)))


def _same_weights(exact: Taken, highs: Taken, amortized: Taken) -> Iterator[Claim]:
    def same(other: Taken) -> bool:
        return bool(np.array_equal(exact.learned.weights, other.learned.weights))

    def told(other: Taken) -> str:
        equal = "equal" if same(other) else "not equal"
        return f"All {len(exact.learned.weights):,} weights are {equal}"

    yield Claim(
        "Two exact engines learn the same weights, to the last bit",
        same(highs),
        f"{told(highs)}; inference took {exact.learned.inference_seconds:.2f} s with Exact and "
        f"{highs.learned.inference_seconds:.2f} s with HiGHS.",
    )
    calls, all_calls = amortized.learned.calls, highs.learned.calls
    yield Claim(
        "Amortized inference learns the same weights, to the last bit, with fewer solver calls",
        same(amortized) and calls < all_calls,
        f"{told(amortized)}; of {amortized.learned.inferences:,} inferences "
        f"{amortized.learned.inferences - calls:,} were proved without the solver: its calls fall "
        f"to {100 * calls / all_calls:.3g} %, and the time of inference from "
        f"{highs.learned.inference_seconds:.2f} to {amortized.learned.inference_seconds:.2f} s.",
    )


def _searches(exact: Taken, greedy: Taken, speedup: Taken) -> Iterator[Claim]:
    best, found = exact.predicted, greedy.predicted
    reached = float((found.values >= best.values - TIE * np.maximum(1, abs(best.values))).mean())
    yield Claim(
        "Greedy search finds most of the best outputs without a solver",
        reached > 0.5 and found.calls == 0,
        f"Its output is as good as the best one for {100 * reached:.1f} % of the sentences, and "
        f"proved to be for {100 * found.proved:.1f} %; the mean gap to its bound is "
        f"{found.gap:.3g}.",
    )
    same, fast = agreement(best.outputs, speedup.predicted.outputs), speedup.predicted
    yield Claim(
        f"The speed-up says what its teacher says for {100 * AGREE_BAR:.0f} % of the sentences or "
        "more, and asks it nothing",
        same >= AGREE_BAR and fast.calls == 0,
        f"Its output is the teacher's for {100 * same:.1f} % of the sentences, and proved to be "
        f"the best for {100 * fast.proved:.1f} %; the mean gap to its bound is {fast.gap:.3g}.",
    )
