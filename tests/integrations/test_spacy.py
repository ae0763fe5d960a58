"""Rules in real spaCy pipelines, whose models are small and untrained, beside enumeration."""

from __future__ import annotations

import itertools
import subprocess
import sys
from operator import attrgetter

import numpy as np
import pytest

from rote.adapters.spacy import RuledCats, RuledSpans
from rote.errors import DataError, RuleError

spacy = pytest.importorskip("spacy")
pytest.importorskip("rote.adapters.spacy_factories")  # also where a checkout's metadata are old

LABELS = ("animal", "dog", "car")
RULES = "if dog then animal\nnot (animal and car)\nanimal or car"
TEXTS = ["The dog barked at the red car .", "A car", "Dogs are animals , cars are not"] * 5
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cats():
    """A text classifier with weights as they are before training."""
    nlp = spacy.blank("en")
    textcat = nlp.add_pipe("textcat_multilabel")
    for label in LABELS:
        textcat.add_label(label)
    nlp.initialize()
    weights = np.random.default_rng(0)
    for node in textcat.model.walk():
        for name in node.param_names:
            own = node.get_param(name)
            node.set_param(name, (own + 0.1 * weights.normal(size=own.shape)).astype(own.dtype))
    return nlp


@pytest.fixture(scope="module")
def spans():
    nlp = spacy.blank("en")
    nlp.add_pipe("spancat", config={"threshold": 0.05})
    doc, gold = nlp.make_doc(TEXTS[0]), nlp.make_doc(TEXTS[0])
    gold.spans["sc"] = [
        spacy.tokens.Span(gold, 0, 2, label="PER"),
        spacy.tokens.Span(gold, 1, 4, label="LOC"),
    ]
    example = spacy.training.Example(doc, gold)
    nlp.initialize(lambda: [example])
    return nlp


def test_spacy_finds_the_factories_by_itself():
    program = "import spacy; spacy.blank('en').add_pipe('rote_cats', config={'rules': 'a'})"
    subprocess.run([sys.executable, "-c", program], check=True)


def with_pipe(nlp, factory, **config):
    """The pipeline with one more component, in a copy."""
    copy = spacy.util.load_model_from_config(nlp.config.copy(), auto_fill=True)
    copy.from_bytes(nlp.to_bytes())
    copy.add_pipe(factory, config=config)
    return copy


def best_cats(probabilities, threshold):
    def value(on):
        odds = threshold / (1 - threshold)
        return sum(
            np.log(p / (1 - p)) - np.log(odds)
            for p, one in zip(probabilities.values(), on, strict=True)
            if one
        )

    def obeys(on):
        animal, dog, car = on
        return dog <= animal and not (animal and car) and (animal or car)

    return max((on for on in itertools.product((0, 1), repeat=3) if obeys(on)), key=value)


@pytest.mark.parametrize("threshold", [0.5, 0.2])
def test_categories_are_the_likeliest_that_obey(cats, threshold):
    nlp = with_pipe(cats, "rote_cats", rules=RULES, threshold=threshold)
    free, ruled = list(cats.pipe(TEXTS)), list(nlp.pipe(TEXTS, batch_size=4))
    for before, after in zip(free, ruled, strict=True):
        assert after.user_data["rote_cats"] == pytest.approx(before.cats, abs=1e-6)
        assert tuple(after.cats.values()) == best_cats(before.cats, threshold)
    assert [doc.text for doc in ruled] == TEXTS
    assert nlp(TEXTS[0]).cats == ruled[0].cats
    assert nlp.analyze_pipes()["problems"]["rote_cats"] == []


def chosen(doc, overlap, most):
    """The best spans by looking at all subsets; one label for the same tokens."""
    group = doc.spans["sc"]
    odds = np.log(group.attrs["scores"] / (1 - group.attrs["scores"]))

    def fits(several):
        pairs = itertools.combinations([group[k] for k in several], 2)
        same = (lambda a, b: (a.start, a.end) == (b.start, b.end)) if overlap else None
        meet = same or (lambda a, b: a.start < b.end and b.start < a.end)
        few = most is None or sum(group[k].label_ == "PER" for k in several) <= most
        return few and not any(meet(a, b) for a, b in pairs)

    every = itertools.chain.from_iterable(
        itertools.combinations(range(len(group)), size) for size in range(len(group) + 1)
    )
    best = max((s for s in every if fits(s)), key=lambda s: odds[list(s)].sum())
    return sorted((group[k].start, group[k].end, group[k].label_) for k in best)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("rules", [None, "at most 1 spans are PER"])
def test_spans_are_the_likeliest_that_do_not_overlap(spans, overlap, rules):
    ruled = RuledSpans(rules=rules, overlap=overlap, ents=not overlap)
    rng, sizes = np.random.default_rng(0), []
    for text in TEXTS:
        doc = spans.make_doc(text)
        places = rng.integers(0, len(doc), size=(7, 2))
        group = spacy.tokens.SpanGroup(doc, name="sc", attrs={"scores": rng.random(7)})
        labels = rng.permutation(["PER", "LOC"] * 4).tolist()
        for (start, more), label in zip(places.tolist(), labels, strict=False):
            end = min(len(doc), start + 1 + more % 3)
            group.append(spacy.tokens.Span(doc, start, end, label=label))
        doc.spans["sc"] = group
        expected = chosen(doc, overlap, None if rules is None else 1)
        key = attrgetter("start", "end", "label_")
        scores = sorted(zip(map(key, group), group.attrs["scores"].tolist(), strict=True))
        (doc,) = ruled.pipe([doc])
        found = doc.spans["sc"]
        assert sorted(map(key, found)) == expected
        assert sorted(map(key, doc.ents)) == ([] if overlap else expected)
        assert [dict(scores)[key(span)] for span in found] == list(found.attrs["scores"])
        sizes.append(len(found))
    assert max(sizes) > 1


def test_spans_of_a_real_span_categorizer(spans):
    nlp = with_pipe(spans, "rote_spans", threshold=0.3, rules="at most 2 spans are LOC|PER")
    for before, doc in zip(spans.pipe(TEXTS), nlp.pipe(TEXTS), strict=True):
        found = doc.spans["sc"]
        assert len(before.spans["sc"]) > len(found) > 0
        assert len(found) <= 2
        tokens = [t for span in found for t in range(span.start, span.end)]
        assert len(tokens) == len(set(tokens))


def test_a_pipeline_is_saved_and_comes_back(cats, tmp_path):
    nlp = with_pipe(cats, "rote_cats", rules=RULES, threshold=0.4)
    nlp.to_disk(tmp_path / "nlp")
    for again in (
        spacy.load(tmp_path / "nlp"),
        spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        assert again.get_pipe("rote_cats") == RuledCats(RULES, 0.4)
        assert again.config["components"]["rote_cats"] == {
            "factory": "rote_cats", "rules": RULES, "threshold": 0.4,
        }  # fmt: skip
        assert [doc.cats for doc in again.pipe(TEXTS)] == [doc.cats for doc in nlp.pipe(TEXTS)]
    spans = RuledSpans("mine", "at most 1 spans are A", 0.3, overlap=True)
    assert RuledSpans().from_bytes(spans.to_bytes()) == spans


def test_rules_may_be_a_registered_function(cats):
    @spacy.registry.misc("only_cars.v1")
    def only_cars():
        return no_animal

    nlp = with_pipe(cats, "rote_cats", rules={"@misc": "only_cars.v1"})
    assert {doc.cats["animal"] for doc in nlp.pipe(TEXTS)} == {0.0}
    again = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert again.get_pipe("rote_cats").rules is no_animal


def no_animal(builder, variables):
    builder.require(variables[0]["off"])


def test_what_does_not_fit_is_refused(cats):
    doc = cats(TEXTS[0])
    with pytest.raises(RuleError, match=r"expected the name of a variable: .*animal, dog, car"):
        RuledCats("if cat then animal")(doc)
    assert RuledCats("nothing to read here")(cats.make_doc("no categories")).cats == {}
    doc.spans["sc"] = [doc[0:1]]
    with pytest.raises(DataError, match="no score for each of its 1 spans"):
        RuledSpans()(doc)
    assert RuledSpans("other")(doc) is doc
