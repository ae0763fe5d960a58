"""Can a search learn from a solver? A beam that is taught by an integer program's answers."""

from time import process_time

import numpy as np

from rote import (
    Beam,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    LearnedBeam,
    Milp,
    StructuredSVM,
    distill,
    train,
)
from rote.datasets import english_sentences
from rote.types import IntArray

sentences = english_sentences(700, seed=0)
learned, unlabelled, asked = sentences[:200], sentences[200:600], sentences[600:]
outputs = [EntityRelationOutput.of(x) for x in learned]
model = train(EntityRelation(), learned, outputs, learner=StructuredSVM(0.1, iterations=5))
prepared = model.prepare(asked)

search = LearnedBeam(Milp(), width=8)
distill(model.with_engine(search), model.prepare(unlabelled), epochs=3)  # no right output is needed


def answered(engine: Engine) -> tuple[list[IntArray], float]:
    """Which labels each sentence got, and the engine's own time, without that of features."""
    begin = process_time()
    answers = model.with_engine(engine).answers(prepared)
    seconds = process_time() - begin
    return [labels for _, found in answers for labels in found.labels], seconds


right, slow = answered(Milp())
for name, engine in {"a beam of 8": Beam(width=8), "the same, taught": search}.items():
    answered(engine)  # plans spaces
    found, fast = answered(engine)
    same = sum(np.array_equal(one, other) for one, other in zip(found, right, strict=True))
    obey = sum(bool((labels >= 0).all()) for labels in found)
    print(f"{name}: {same} of {len(asked)} answers are the solver's, {obey} obey the rules")
repaired, of = search.stats["broken"], search.stats["inputs"]
print(f"{repaired} of {of} answers of the search had to be repaired")
print(f"the solver takes {slow / fast:.1f} times as long as the search that it taught")
