"""What do rules change? Entities and relations of sentences, with the same weights both times."""

from rote import (
    EntityRelation,
    EntityRelationOutput,
    IndependentPerceptron,
    StructuredSVM,
    show,
    train,
)
from rote.datasets import english_sentences
from rote.io import Sentence
from rote.metrics import EntityRelations, relation_f1

task = EntityRelation()  # "Live_In links a person to a place", and so on
sentences = english_sentences(700, seed=0)
learned, asked = sentences[:500], sentences[500:]
outputs, gold = ([EntityRelationOutput.of(x) for x in part] for part in (learned, asked))

single = train(task, learned, outputs, learner=IndependentPerceptron())  # every decision for itself
jointly = train(task, learned, outputs, learner=StructuredSVM(0.1, iterations=10))
ways = {
    "no rules": single.without_rules().predict(asked),
    "rules in prediction": single.predict(asked),
    "rules in learning as well": jointly.predict(asked),
}


def is_feasible(x: Sentence, y: EntityRelationOutput) -> bool:
    return bool(task.frame(x).space.holds([task.encode(x, y)])[0])


def f1(found: list[EntityRelationOutput]) -> float:
    right, said = ([EntityRelations(*y) for y in ys] for ys in (gold, found))
    return relation_f1(right, said).micro.f1


for name, found in ways.items():
    broken = sum(not is_feasible(x, y) for x, y in zip(asked, found, strict=True))
    print(f"{name}: F1 of relations {f1(found):.2f}, {broken} of {len(asked)} outputs break a rule")

before, after = ways["no rules"], ways["rules in prediction"]
shortest = min(
    (i for i, x in enumerate(asked) if not is_feasible(x, before[i]) and after[i] == gold[i]),
    key=lambda i: len(asked[i].words),
)
print("\nwithout rules:", show(task, asked[shortest], before[shortest]).text(80), sep="\n")
print("\nwith them:", show(task, asked[shortest], after[shortest]).text(80), sep="\n")
