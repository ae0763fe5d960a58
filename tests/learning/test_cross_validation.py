"""Cross-validation: the same scores and weights under every policy, and ever fewer calls."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from rote import Amortized, Exact, StructuredSVM
from rote.datasets import english_sentences
from rote.errors import DataError, LabelError, SettingError
from rote.features import Templates
from rote.inference.stores import MemoryStore, SqliteStore
from rote.inference.wrappers.amortized import Counters
from rote.learning import Perceptron
from rote.learning import cross_validation as validation
from rote.learning.cross_validation import Run, Validation, cross_validate
from rote.learning.sklearn import StructuredEstimator
from rote.learning.training import train
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput
from rote.tasks.tagging import Tagging
from tests.small_tasks import TAGGING, tagged

XS, YS = tagged(24)
LEARNERS = {C: StructuredSVM(C=C, iterations=6, online_epochs=0) for C in (0.05, 1.0)}
SENTENCES = english_sentences(40, 0)
OUTPUTS = [EntityRelationOutput.of(sentence) for sentence in SENTENCES]


def share_of_labels(ys, found):
    pairs = [(a, b) for y, z in zip(ys, found, strict=True) for a, b in zip(y, z, strict=True)]
    return float(np.mean([a == b for a, b in pairs]))


def share_of_outputs(ys, found):
    return float(np.mean([tuple(y) == tuple(z) for y, z in zip(ys, found, strict=True)]))


def tags(learners=LEARNERS, folds=3, **options):
    chosen = list(KFold(folds).split(XS)) if isinstance(folds, int) else folds
    return cross_validate(TAGGING, XS, YS, learners, chosen, share_of_labels, **options)


def sentences(certificate, policy, epsilon=0.0, n_jobs=1, store=None, learners=LEARNERS, **options):
    engine = Amortized(
        Exact(), certificate=certificate, epsilon=epsilon, admission="always", store=store
    )
    return cross_validate(
        EntityRelation(),
        SENTENCES,
        OUTPUTS,
        learners,
        KFold(3).split(SENTENCES),
        share_of_outputs,
        engine=engine,
        cache=policy,
        n_jobs=n_jobs,
        **options,
    )


validated = cache(sentences)


def results(found):
    """All that must not hang on policies and processes."""
    return [(r.setting, r.fold, r.score, r.iterations, r.done, r.digest) for r in found.runs]


def calls(found):
    return found.counters.solver_calls


# -- what is computed -------------------------------------------------------------------------


def test_every_setting_is_trained_on_every_fold_in_order():
    found = tags()
    assert [(run.setting, run.fold) for run in found.runs] == [
        (C, fold) for C in LEARNERS for fold in range(3)
    ]
    folds = list(KFold(3).split(XS))
    for run in found.runs:
        learned, judged = folds[run.fold]
        xs, ys = [XS[k] for k in learned], [YS[k] for k in learned]
        model = train(TAGGING, xs, ys, learner=LEARNERS[run.setting])
        outputs = model.predict([XS[k] for k in judged])
        assert run.score == share_of_labels([YS[k] for k in judged], outputs)
        assert run.counters.queries == run.iterations * len(learned)
        assert run.seconds > 0


def test_scores_are_those_that_scikit_learn_finds():
    found = tags()
    for C, learner in LEARNERS.items():
        theirs = cross_val_score(StructuredEstimator(TAGGING, learner), XS, YS, cv=KFold(3))
        assert [run.score for run in found.runs if run.setting == C] == pytest.approx(theirs)
        assert found.scores[C] == pytest.approx(theirs.mean())


def test_the_best_setting_is_the_first_with_the_highest_mean():
    def run(setting, score):
        return Run(setting, 0, score, 1, True, "", Counters(queries=2, solver_calls=1), 0.5)

    found = Validation((run("a", 0.2), run("a", 0.4), run("b", 0.5), run("c", 0.5)), 2.0)
    assert found.scores == pytest.approx({"a": 0.3, "b": 0.5, "c": 0.5})
    assert found.best == "b"
    assert (found.counters.queries, found.counters.solver_calls) == (8, 4)


def test_folds_may_be_of_any_kind():
    groups = [len(x) for x in XS]
    found = tags(folds=list(GroupKFold(2).split(XS, groups=groups)))
    assert len(found.runs) == 4
    by_hand = tags(folds=[(range(10), [10, 11]), (list(range(12, 24)), range(2))])
    assert [run.counters.queries // run.iterations for run in by_hand.runs] == [10, 12] * 2


def test_more_folds_than_are_kept_ready_change_nothing(monkeypatch):
    kept = tags()
    monkeypatch.setattr(validation, "KEPT", 1)
    assert results(tags()) == results(kept)


# -- policies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("certificate", ["auto", "condition", "margin"])
def test_exact_answers_make_every_policy_equal_to_the_last_bit(certificate):
    plain = validated("auto", "none")
    for policy in ("reset", "forward"):
        assert results(validated(certificate, policy)) == results(plain)


def test_without_a_cache_every_inference_is_solved():
    plain = validated("auto", "none")
    assert calls(plain) == plain.counters.queries > 0
    assert plain.counters.hits == {}


@pytest.mark.parametrize(("certificate", "epsilon"), [("relative", 0.0), ("condition", 1.0)])
def test_forwarding_solves_less_than_resetting_and_that_less_than_nothing_remembered(
    certificate, epsilon
):
    none, reset, forward = (
        calls(validated(certificate, policy, epsilon)) for policy in ("none", "reset", "forward")
    )
    assert forward < reset < none


def test_folds_share_what_is_remembered_and_settings_only_when_it_is_forwarded():
    # Folds are equal, and so is every training of a setting: all but the first find all solved.
    folds = [(range(20), range(20, 24))] * 3
    learners = {"first": LEARNERS[1.0], "again": LEARNERS[1.0]}
    engine = Amortized(Exact(), certificate=(), admission="always")
    same = Amortized(Exact(), certificate="condition", admission="always")
    counted = [run.counters for run in tags(folds=folds, engine=engine).runs]
    assert [each.solver_calls for each in counted] == [each.queries for each in counted]
    assert len(counted) == 6
    reset = [
        r.counters.solver_calls for r in tags(learners, folds, engine=same, cache="reset").runs
    ]
    assert reset == [reset[0], 0, 0] * 2
    assert reset[0] > 0
    forward = [run.counters.solver_calls for run in tags(learners, folds, engine=same).runs]
    assert forward == [reset[0], 0, 0, 0, 0, 0]


def test_the_engine_that_was_given_is_left_as_it_was():
    engine = Amortized(Exact(), admission="always")
    tags(engine=engine)
    assert engine.counters == Counters()


def test_a_store_of_the_engine_outlives_the_validation(tmp_path):
    def again():
        store = SqliteStore(tmp_path / "answers.sqlite")
        return sentences("condition", "forward", store=store)

    first, second = again(), again()
    assert results(first) == results(second)
    assert 0 == calls(second) < calls(first)


# -- processes --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["none", "reset", "forward"])
def test_processes_find_the_same_scores_and_weights(policy):
    serial, parallel = validated("auto", policy), sentences("auto", policy, n_jobs=2)
    assert results(parallel) == results(serial)
    assert parallel.counters.queries == serial.counters.queries


def test_processes_share_the_store_of_the_engine(tmp_path):
    store = SqliteStore(tmp_path / "answers.sqlite")
    first = sentences("condition", "forward", n_jobs=2, store=store)
    assert sum(size.blobs for size in store.info().values()) > 0
    second = sentences("condition", "forward", n_jobs=2, store=store)
    assert results(first) == results(second)
    assert calls(second) == 0


def test_nothing_is_left_of_the_file_that_processes_share(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []

    def watch(run):
        seen.append(sorted(path.name for path in Path(tmp_path).glob("rote-*/*.sqlite")))

    sentences("condition", "reset", n_jobs=2, watch=watch)
    assert {"0.sqlite"} <= set(seen[0]) <= {"0.sqlite", "1.sqlite"}
    assert list(tmp_path.glob("rote-*")) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_run_is_shown_once_it_is_made(n_jobs):
    seen = []
    found = tags(n_jobs=n_jobs, watch=seen.append)
    assert sorted(seen, key=lambda run: (run.setting, run.fold)) == list(found.runs)


def test_what_runs_have_in_common_is_sent_once():
    sent = []

    class Score:
        def __reduce__(self):
            sent.append(self)
            return (lambda: share_of_labels), ()

    found = cross_validate(TAGGING, XS, YS, LEARNERS, KFold(3).split(XS), Score(), n_jobs=2)
    assert (len(sent), len(found.runs)) == (1, 6)


def test_what_fails_in_a_process_is_raised_here():
    broken = [("I-X",) * len(y) for y in YS]
    with pytest.raises(LabelError, match="breaks the rule"):
        cross_validate(TAGGING, XS, broken, LEARNERS, KFold(3).split(XS), share_of_labels, n_jobs=2)


# -- what is refused --------------------------------------------------------------------------


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(SettingError, match="none, reset, forward, got 'keep'"):
        tags(cache="keep")
    with pytest.raises(SettingError, match="n_jobs"):
        tags(n_jobs=0)
    with pytest.raises(SettingError, match="no run to make"):
        tags({})
    with pytest.raises(SettingError, match="no run to make"):
        tags(folds=[])
    with pytest.raises(DataError, match="24 inputs and 23 outputs"):
        cross_validate(TAGGING, XS, YS[1:], LEARNERS, KFold(3).split(XS), share_of_labels)


@pytest.mark.parametrize("policy", ["none", "reset"])
def test_a_store_is_refused_where_runs_begin_with_nothing(policy):
    engine = Amortized(Exact(), store=MemoryStore())
    with pytest.raises(SettingError, match="leave the store out"):
        tags(engine=engine, cache=policy)


def test_a_store_in_memory_is_refused_where_processes_would_share_it():
    engine = Amortized(Exact(), store=MemoryStore())
    assert len(tags(engine=engine).runs) == 6
    with pytest.raises(SettingError, match="cannot share a store in memory"):
        tags(engine=engine, n_jobs=2)


@pytest.mark.parametrize(
    ("places", "says"),
    [
        (np.arange(24) < 12, r"shape \(24,\) of bool; np.flatnonzero makes places of a mask"),
        ([0.0, 1.0], "whole numbers along one axis; got .* of float64"),
        ([[0, 1]], r"got shape \(1, 2\)"),
        ([0, 24], "there are 24 inputs; got 24"),
        ([-1, 0], "there are 24 inputs; got -1"),
    ],
)
def test_sides_of_folds_are_places_of_inputs(places, says):
    for fold in ((places, [0, 1]), ([0, 1], places)):
        with pytest.raises(SettingError, match=says):
            tags(folds=[fold])


def test_learners_have_names_and_folds_are_pairs():
    task, xs, ys = TAGGING, *tagged(4)
    folds = [([0, 1], [2, 3])]
    for learners in ([Perceptron()], Perceptron()):
        with pytest.raises(SettingError, match="learners is a mapping from the name"):
            cross_validate(task, xs, ys, learners, folds, share_of_labels)
    with pytest.raises(SettingError, match="learners is a mapping"):
        cross_validate(task, xs, ys, {1: Perceptron}, folds, share_of_labels)
    with pytest.raises(SettingError, match=r"as in KFold\(5\)\.split\(xs\), got 5"):
        cross_validate(task, xs, ys, {1: Perceptron()}, 5, share_of_labels)


def test_an_example_that_is_refused_is_called_by_its_number_among_all():
    ys = [*YS[:20], ("no label",) * len(YS[20]), *YS[21:]]
    for folds in ([(np.arange(12, 24), np.arange(12))], [(np.arange(23, 11, -1), np.arange(12))]):
        with pytest.raises(LabelError, match=r"^example 20: 'no label' is not a label"):
            cross_validate(TAGGING, XS, ys, LEARNERS, folds, share_of_labels)


def test_outputs_that_break_a_rule_are_refused_unless_they_are_allowed():
    broken = [("I-X",), ("O",)]
    task = Tagging(("B-X", "I-X", "O"), Templates(("word",), ("word[0]",)), bio=True)
    xs, folds = [[["a"]], [["b"]]], [([0], [1]), ([1], [0])]
    folds = [(np.array(learned), np.array(judged)) for learned, judged in folds]

    def validated(**options):
        learners = {1.0: StructuredSVM(iterations=2)}
        return cross_validate(task, xs, broken, learners, folds, share_of_labels, **options)

    with pytest.raises(LabelError, match=r"^example 0: .*allow_infeasible_gold=True"):
        validated()
    assert len(validated(allow_infeasible_gold=True).runs) == 2


@pytest.mark.parametrize("wrong", [float("nan"), None, "good"])
def test_a_score_that_is_no_number_is_refused(wrong):
    learners, folds = {1.0: Perceptron(iterations=1)}, KFold(2).split(XS)
    with pytest.raises(SettingError, match=f"score is a number, got {wrong!r}"):
        cross_validate(TAGGING, XS, YS, learners, folds, lambda ys, found: wrong)
