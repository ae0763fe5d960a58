"""How do I solve what is nothing but rules? A sudoku, and whether its solution is the only one."""

from itertools import product

from rote import SpaceBuilder, Status, all_different, k_best

GIVEN = [
    "53..7....",
    "6..195...",
    ".98....6.",
    "8...6...3",
    "4..8.3..1",
    "7...2...6",
    ".6....28.",
    "...419..5",
    "....8..79",
]
builder = SpaceBuilder()
places = list(product(range(9), repeat=2))
cells = {place: builder.variable("{} {}".format(*place), "123456789") for place in places}
for k in range(9):
    builder.require(all_different(cells[k, j] for j in range(9)), f"row {k}")
    builder.require(all_different(cells[i, k] for i in range(9)), f"column {k}")
    box = [cells[i, j] for i, j in places if i // 3 * 3 + j // 3 == k]
    builder.require(all_different(box), f"box {k}")
for i, j in places:
    if GIVEN[i][j] != ".":
        builder.require(cells[i, j][GIVEN[i][j]], f"given at {i} {j}")
space = builder.build()

first, second = k_best(space, space.scores({}), 2)  # no output is better than another
digits = list(space.decode(first.labels)[0].values())
for row in range(9):
    print(*digits[9 * row : 9 * row + 9])
print("the only one:", "yes" if second.status[0] == Status.INFEASIBLE else "no")
