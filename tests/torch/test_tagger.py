"""The BiLSTM tagger: its part scores are those of a chain, and it learns what it should."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from rote import RGS, Exact, Model, Perceptron
from rote.errors import LabelError, SettingError
from rote.learning import fit
from rote.model import prepare
from rote.space.losses import Hamming
from rote.tasks.tagging import Tagging
from rote.torch import BiLSTMTagger, StructuredHinge, Training
from rote.torch.inputs import Vocabulary
from rote.torch.tagger import _Words
from tests.strategies import Judge
from tests.torch.small import LABELS, accuracy, sentences, vectors

SHORT = Training(epochs=2)
TINY = {"words": 8, "hidden": 8}


def alternate(builder, tokens):
    for one, other in pairwise(tokens):
        builder.require(one["N"] >> ~other["N"], "no two nouns")


@pytest.mark.parametrize("order", [0, 1, 2])
def test_part_scores_are_label_scores_and_then_tables_for_every_place(order):
    xs, ys = sentences(6)
    tagger = BiLSTMTagger(LABELS, order=order, **TINY, training=SHORT).fit(xs, ys)
    network, inputs = tagger.fitted
    tables = [
        table.detach().numpy().reshape((3,) * (k + 2)) for k, table in enumerate(network.tables)
    ]
    assert len(tables) == order
    for x, parts in zip(xs, tagger.part_scores(xs), strict=True):
        space = Tagging(LABELS, list, order=order).frame(x).space
        assert tagger.space(len(x)) == space
        own = network(*inputs.tensors([x]))[0]
        assert parts.shape == (space.parts,)
        for t in range(len(x)):
            for a, label in enumerate(LABELS):
                assert parts[space.part(str(t), label)] == own[t, a]
        for factor in space.factors:
            names = [str(t) for t in factor.variables]
            table = tables[len(names) - 2]
            for place in np.ndindex(*table.shape):
                assert parts[space.part(names, [LABELS[a] for a in place])] == table[place]


def test_predictions_are_the_best_outputs_under_part_scores():
    xs, ys = sentences(6)
    tagger = BiLSTMTagger(LABELS, rules=alternate, **TINY, training=SHORT).fit(xs, ys)
    for x, parts, found in zip(xs, tagger.part_scores(xs), tagger.predict(xs), strict=True):
        best = Judge(tagger.space(len(x))).best(parts.tolist()).labels
        assert found == tuple(LABELS[label] for label in best)


def test_every_weight_is_moved_by_the_hinge():
    xs, ys = sentences(8)
    tagger = BiLSTMTagger(LABELS, **TINY, characters=4, training=SHORT).fit(xs, ys)
    network = tagger.fitted.network
    gold = [[LABELS.index(label) for label in y] for y in ys]
    spaces = [tagger.space(len(x)) for x in xs]
    network.zero_grad()
    StructuredHinge()(tagger.part_scores(xs), spaces, gold).backward()
    assert [name for name, w in network.named_parameters() if not w.grad.abs().sum()] == []


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (sentences, {}),
        (sentences, {"learns_by": "tokens"}),
        (sentences, {"characters": 8, "lower": True}),
        (sentences, {"engine": RGS(restarts=5)}),
        (vectors, {}),
    ],
    ids=["hinge", "tokens", "characters", "greedy", "vectors"],
)
def test_labels_that_hang_on_their_neighbours_are_learned(data, options):
    training = Training(epochs=15, rate=0.01)
    tagger = BiLSTMTagger(LABELS, words=16, hidden=16, training=training, **options)
    more, right = data(40, seed=1)
    assert accuracy(tagger.fit(*data(60)).predict(more), right) > 0.95


def test_pairs_learn_what_tokens_cannot_see():
    """Labels alternate from a start that nothing tells: a token by itself knows nothing."""
    rng = np.random.default_rng(0)
    ys = [tuple("ab"[(t + s) % 2] for t in range(4)) for s in rng.integers(2, size=40)]
    xs = [["w"] * 4] * 40
    training = Training(epochs=15, rate=0.02)
    alone = BiLSTMTagger(("a", "b"), learns_by="tokens", **TINY, training=training).fit(xs, ys)
    paired = BiLSTMTagger(("a", "b"), **TINY, training=training).fit(xs, ys)
    assert paired.predict(xs[:1])[0] in {tuple("abab"), tuple("baba")}
    table = paired.fitted.network.tables[0].detach().reshape(2, 2)
    assert table[0, 1] + table[1, 0] > table[0, 0] + table[1, 1] + 0.5
    assert np.exp(alone.log_probabilities(xs[0])).max() < 0.75


def test_rules_hold_whatever_was_learned():
    xs = [["x", "y"], ["y", "x", "x"]]
    ys = [("O", "B-X"), ("B-X", "I-X", "O")]
    tagger = BiLSTMTagger(("I-X", "B-X", "O"), bio=True, **TINY, training=SHORT).fit(xs, ys)
    inputs = [["y"] * n for n in range(1, 6)]
    for found in tagger.predict(inputs):
        assert tagger.space(len(found)).holds([["I-X", "B-X", "O"].index(a) for a in found]).all()
    with pytest.raises(LabelError, match="breaks the rule"):
        tagger.fit([["x"]], [("I-X",)])


def test_an_output_that_breaks_a_rule_is_named_before_anything_is_learned():
    xs, ys = [["a"], ["a", "b"], ["b", "a"]], [("N",), ("D", "N"), ("N", "N")]
    tagger = BiLSTMTagger(LABELS, rules=alternate, **TINY, training=SHORT)
    epochs = []
    with pytest.raises(LabelError, match=r"example 2: .* breaks the rule 'no two nouns'"):
        tagger.fit(xs, ys, watch=epochs.append)
    assert epochs == []
    tagger.fit(xs[:2], ys[:2], validation=(xs, ys))  # what is only judged may break it
    tagger.fit([[], *xs[:2]], [(), *ys[:2]])


@pytest.mark.parametrize(
    "options", [{"allow_infeasible_gold": True}, {"learns_by": "tokens"}], ids=str
)
def test_an_output_may_break_a_rule_where_this_is_said_or_rules_are_not_learned_with(options):
    xs, ys = [["a", "b"]] * 2, [("D", "N"), ("N", "N")]
    tagger = BiLSTMTagger(LABELS, rules=alternate, **TINY, training=SHORT, **options)
    assert ("N", "N") not in tagger.fit(xs, ys).predict(xs)


def test_unknown_and_rare_words_share_what_was_learned_of_the_unknown():
    vocabulary = Vocabulary((("often", "once"),), ((1000, 1),))
    encoder = _Words(vocabulary, 4, 0, forget=1.0)
    batch = torch.tensor([[[1], [2]]]).expand(400, 2, 1)
    torch.manual_seed(0)
    unknown = (encoder(batch) == encoder.embeddings[0].weight[0]).all(dim=-1).float().mean(dim=0)
    assert unknown[0] < 0.02
    assert 0.4 < unknown[1] < 0.6
    encoder.eval()
    assert not (encoder(batch) == encoder.embeddings[0].weight[0]).all(dim=-1).any()
    never = _Words(vocabulary, 4, 0, forget=0.0)
    assert (never(batch) == never.embeddings[0].weight[[1, 2]]).all()


def test_characters_tell_unknown_words_apart_and_do_not_hang_on_the_batch():
    xs, ys = sentences(6)
    tagger = BiLSTMTagger(LABELS, characters=8, **TINY, training=SHORT).fit(xs, ys)
    with_ing, with_ed = tagger.log_probabilities(["seeing"]), tagger.log_probabilities(["seed"])
    assert with_ing[0].tolist() != with_ed[0].tolist()
    together = tagger.log_probabilities_of([["seed"], ["unreasonably"]])
    np.testing.assert_allclose(together[0], with_ed, atol=1e-6)


@pytest.mark.parametrize("engine", [Exact(), RGS(restarts=5)], ids=["Exact", "RGS"])
def test_log_probabilities_are_features_of_a_task(engine):
    xs, ys = sentences(40)
    tagger = BiLSTMTagger(LABELS, learns_by="tokens", **TINY, training=Training(epochs=8)).fit(
        xs, ys
    )
    task = Tagging(LABELS, tagger.log_probabilities)
    prepared = prepare(task, xs, ys)
    model = Model(task, prepared.layout, prepared.layout.zeros(), engine)
    model = fit(Perceptron(iterations=5), model, prepared)
    more, right = sentences(40, seed=1)
    found = accuracy(model.predict(more), right)
    assert found > 0.85
    assert found >= accuracy(tagger.predict(more), right)


def test_the_order_follows_from_what_the_tagger_learns_by():
    tokens = BiLSTMTagger(LABELS, learns_by="tokens")
    assert tokens.factors == 0
    assert replace(tokens, learns_by="hinge").factors == 1
    assert BiLSTMTagger(LABELS, order=0).factors == 0
    with pytest.raises(SettingError, match="leave order out"):
        BiLSTMTagger(LABELS, learns_by="tokens", order=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"learns_by": "words"},
        {"order": -1},
        {"words": 0},
        {"hidden": 0},
        {"layers": 0},
        {"characters": -1},
        {"dropout": 1.0},
        {"forget": -0.1},
        {"loss": Hamming},
        {"loss": Hamming({"typo": 2.0})},
        {"bio": True},  # and no label is spelled so
    ],
    ids=str,
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        BiLSTMTagger(LABELS, **wrong)


def test_a_sequence_without_tokens_has_no_parts():
    xs, ys = sentences(4)
    tagger = BiLSTMTagger(LABELS, **TINY, training=SHORT).fit(xs, ys)
    (parts,) = tagger.part_scores([[]])
    assert parts.shape == (0,)
