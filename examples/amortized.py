"""How often must a solver really solve? One training, by a solver alone and under `Amortized`."""

from time import process_time

from rote import Amortized, Engine, EntityRelation, EntityRelationOutput, Milp, StructuredSVM, train
from rote.datasets import english_sentences
from rote.types import FloatArray

xs = english_sentences(60, seed=0)
ys = [EntityRelationOutput.of(x) for x in xs]


def trained(engine: Engine) -> tuple[FloatArray, float]:
    """The weights that were learned, and the seconds of the processor that it took."""
    begin = process_time()
    model = train(EntityRelation(), xs, ys, learner=StructuredSVM(0.1, iterations=8), engine=engine)
    return model.weights, process_time() - begin


trained(Amortized(Milp(), admission="always"))  # plans spaces
weights, slow = trained(Milp())
engine = Amortized(
    Milp(), admission="always"
)  # always tests, so that its counts do not hang on times
same, fast = trained(engine)

done = engine.counters
print(f"{done.queries} inferences, {done.solver_calls} of them solved, the others proved")
print("the weights are", "the same to the last bit" if (same == weights).all() else "others")
print(f"learning took {slow:.2f} seconds by the solver alone, and {fast:.2f} under Amortized")
