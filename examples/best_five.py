"""What else could it be, and how sure is each label? A number plate that is hard to read."""

import numpy as np

from rote import SpaceBuilder, exactly, k_best, max_marginals

SEEN = [  # what a camera made of each sign, as probabilities
    {"B": 0.75, "8": 0.25},
    {"O": 0.55, "0": 0.45},
    {"1": 0.6, "I": 0.4},
    {"2": 0.7, "Z": 0.3},
    {"8": 0.55, "B": 0.45},
]
builder = SpaceBuilder()
signs = [builder.variable(f"sign {i}", list(seen)) for i, seen in enumerate(SEEN, start=1)]
letters = [sign[label] for sign in signs for label in sign.labels if label.isalpha()]
builder.require(exactly(2, letters), "two letters and three digits")
space = builder.build()
scores = np.log([share for seen in SEEN for share in seen.values()])  # in the order of the labels

best = k_best(space, scores, 5)
for answer in best:
    plate = "".join(space.decode(answer.labels)[0].values())
    print(
        f"{plate} is {np.exp(answer.value[0] - best[0].value[0]):.2f} times as likely as the best"
    )

print("\nHow much likelier each sign is than what it could be instead, the rule included:")
known_value = max_marginals(space, scores)[0].reshape(5, 2)  # of the best plate with that label
for sign, at, of_labels in zip(signs, best[0].labels[0], known_value, strict=True):
    print(f"{sign.name}: {sign.labels[at]}, {np.exp(of_labels[at] - of_labels[1 - at]):.1f} times")
