"""What if my rules contradict each other? A rota that cannot be, and which rules to talk about."""

from rote import Exact, InfeasibleSpace, Space, SpaceBuilder, at_least, at_most, exactly

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")


def rota(without: str | None = None) -> Space:
    """Who works when, under all rules but one."""
    builder = SpaceBuilder()
    who = {day: builder.variable(day, ["Ada", "Ben", "Cem"]) for day in DAYS}
    rules = {
        "Ada works at least three days": at_least(3, [who[day]["Ada"] for day in DAYS]),
        "Ada is away on Monday": ~who["Mon"]["Ada"],
        "Ben works on Wednesday": who["Wed"]["Ben"],
        "Cem works exactly one day": exactly(1, [who[day]["Cem"] for day in DAYS]),
        "Cem never works before Thursday": ~(
            who["Mon"]["Cem"] | who["Tue"]["Cem"] | who["Wed"]["Cem"]
        ),
        "Ben works at most two days": at_most(2, [who[day]["Ben"] for day in DAYS]),
    }
    for name, rule in rules.items():
        if name != without:
            builder.require(rule, name)
    return builder.build()


def solved(space: Space) -> str:
    return Exact().solve(space, space.scores({})).show(space).text(80)


try:
    print(solved(rota()))
except InfeasibleSpace as error:
    print("These rules cannot be obeyed together, and without any one of them the others can:")
    print(*(f"- {name}" for name in error.conflicting_rules), sep="\n")
    given_up = error.conflicting_rules[-1]
    print(f"\nWithout '{given_up}':")
    print(solved(rota(without=given_up)))
