"""Can I learn F1 itself? Tags that nobody can be sure of, learned by two losses.

F1 of an example does not add up over its labels, so that engines which think in sums cannot take
it along; greedy search can.
"""

import numpy as np

from rote import RGS, F1Loss, Hamming, MultiLabel, StructuredSVM, train
from rote.metrics import multilabel_scores

rng = np.random.default_rng(0)
points = rng.normal(size=(600, 6))
known_value = points @ rng.normal(size=(6, 10)) + rng.normal(scale=2.0, size=(600, 10))
labels = (known_value.argsort(axis=1).argsort(axis=1) >= 8).astype(
    int
)  # the two best of ten are on
learned, asked = slice(300), slice(300, None)
task = MultiLabel(tuple("abcdefghij"), pairs="none")

for name, loss in {"the number of wrong labels": Hamming(), "1 - F1": F1Loss()}.items():
    learner = StructuredSVM(C=0.01, iterations=10, loss=loss)
    examples = list(points[learned]), list(labels[learned])
    model = train(task, *examples, learner=learner, engine=RGS(restarts=5))
    found = [task.encode(x, y) for x, y in zip(points, model.predict(points), strict=True)]
    scores = multilabel_scores(labels[asked], found[asked])
    right = f"{scores.hamming_accuracy:.1%} of the labels right"
    on = f"{np.mean(found[asked]) * 10:.1f} labels on where 2 are"
    print(f"learned by {name}: F1 {scores.example_f1:.2f}, {right}, {on}")
