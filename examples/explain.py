"""Why this and not that? Which rules forbid a label, what it would cost, and which rules help."""

from itertools import pairwise

import numpy as np

from rote import Exact, SpaceBuilder, all_of, at_least, at_most, explain, rule_report

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
STAFF = ("Ada", "Ben", "Cem")

builder = SpaceBuilder()
who = {day: builder.variable(day, STAFF) for day in DAYS}
for name in STAFF:
    builder.require(at_most(2, [who[day][name] for day in DAYS]), f"{name} works two days at most")
    builder.require(at_least(1, [who[day][name] for day in DAYS]), f"{name} works one day at least")
for one, other in pairwise(DAYS):
    late = all_of([who[one]["Ben"], who[other]["Ben"]])
    builder.require(~late, f"Ben is not there on {one} and {other}")
builder.require(~who["Fri"]["Ben"], "Ben is away on Friday")
builder.require(~all_of([who["Mon"]["Ada"], who["Fri"]["Ada"]]), "Ada has a long weekend")
space = builder.build()

wishes = {"Mon": {"Ada": 3.0}, "Tue": {"Ada": 4.0, "Ben": 1.0}, "Wed": {"Cem": 1.0}}
wishes |= {"Thu": {"Ben": 3.0, "Cem": 1.0}, "Fri": {"Ben": 4.0, "Ada": 2.0, "Cem": 1.0}}
scores = space.scores(wishes)
print(space.decode(Exact().solve(space, scores).labels)[0])
print("\nWhy not Ben on Friday?", explain(space, scores, {"Fri": "Ben"}), sep="\n")
print("\nWhy not Ada on Friday?", explain(space, scores, {"Fri": "Ada"}), sep="\n")

# A hundred weeks of wishes, and who really came: Ada does not care for long weekends.
rng = np.random.default_rng(0)
weeks = rng.normal(size=(100, space.parts))
kept = [k for k, rule in enumerate(space.rules) if rule.name != "Ada has a long weekend"]
came = Exact().solve(space.with_rules(kept), weeks + rng.normal(0, 0.1, weeks.shape)).labels
print("\nWhat did the rules change?", rule_report(space, weeks, came).show().text(100), sep="\n")
