"""What if a rule may be broken at a cost? A cost that is given, and one that is learned."""

from rote import Exact, Perceptron, SpaceBuilder, Tagging, train

# Given: to hike in the rain costs 0.7.
builder = SpaceBuilder()
hike, rain = builder.options(["hike", "rain"])
builder.prefer(rain >> ~hike, 0.7, name="no hike in the rain")
space = builder.build()
for wish in 0.5, 1.5:
    scores = space.scores({"hike": {"yes": wish}, "rain": {"yes": 1.0}})
    print(f"A hike is worth {wish}:\n{Exact().solve(space, scores).show(space)}\n")

# Learned: two verbs side by side, where each word is looked at by itself.
sentences = ["we fish", "they fish", "we can fish", "they can fly", "we fly", "they fly"]
tags = ["N V", "N V", "N V N", "N V N", "N V", "N V"]
rule = "no two verbs: prefer not (token i is V and token i+1 is V)"
task = Tagging(("N", "V"), lambda words: [[word] for word in words], order=0, rules=rule)
xs, ys = [s.split() for s in sentences], [t.split() for t in tags]
model = train(task, xs, ys, learner=Perceptron())
cost, found = model.rule_costs["no two verbs"], model.predict([["we", "can", "fly"], ["we", "fly"]])
print(f"Two verbs cost {cost:.2f}: {found}")
