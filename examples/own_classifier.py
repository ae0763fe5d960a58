"""How do I put rules over the classifier I have? A logistic regression, and what days follow."""

from itertools import pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression

from rote import Exact, SpaceBuilder, template
from rote.tasks import external_scores_of, scores_from

WEATHER = ["sun", "cloud", "rain"]


@template  # one space for all weeks of so many days
def week(builder: SpaceBuilder, days: int) -> None:
    day = [builder.variable(f"day{t}", WEATHER) for t in range(days)]
    for today, tomorrow in pairwise(day):
        builder.require(~(today["sun"] & tomorrow["rain"]), "clouds come before rain")


def weather(rng: np.random.Generator, weeks: int) -> tuple[np.ndarray, np.ndarray]:
    """Weeks that obey the rule, and what a poor instrument said of each day."""
    steps = {"sun": ["sun", "cloud"], "cloud": WEATHER, "rain": WEATHER}
    days = [[rng.choice(WEATHER)] for _ in range(weeks)]
    for one in days:
        while len(one) < 7:
            one.append(rng.choice(steps[one[-1]]))
    true = np.array(days)
    seen = (true[..., None] == WEATHER) + rng.normal(scale=0.7, size=(*true.shape, 3))
    return seen, true


rng = np.random.default_rng(0)
seen, true = weather(rng, 100)
classifier = LogisticRegression().fit(seen.reshape(-1, 3), true.ravel())  # knows no rule

seen, true = weather(rng, 500)
space = week(7)
scores = scores_from(space, {"day*": external_scores_of(classifier, seen.reshape(-1, 3))})
alone = classifier.predict(seen.reshape(-1, 3)).reshape(true.shape)
ruled = np.array([list(one.values()) for one in space.decode(Exact().solve(space, scores).labels)])

for name, found in {"the classifier": alone, "the same under the rule": ruled}.items():
    broken = (~space.holds(np.vectorize(WEATHER.index)(found))).sum()
    print(
        f"{name}: {(found == true).mean():.1%} of the days right, {broken} of 500 weeks impossible"
    )
