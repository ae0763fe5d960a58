"""Every peer finds what exhaustive search finds, through the same seam."""

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks.peers import PeerFailed, Unfit, all_peers
from benchmarks.problems import dense, grid, random_entities
from rote import Exhaustive, SpaceBuilder, at_most

CASES = {
    "entities": random_entities(2, 3),
    "grid": grid(2, 3, 3),
    "dense": dense(5, 3),
}
SECONDS = 20.0


def by_name(name):
    return next(peer for peer in all_peers() if peer.name == name)


@pytest.fixture(params=[peer.name for peer in all_peers()], scope="module")
def peer(request):
    peer = by_name(request.param)
    if find_spec(peer.package) is None:
        pytest.skip(f"{peer.package} is not installed")
    yield peer
    peer.close()


@pytest.mark.parametrize("name", CASES)
def test_a_peer_finds_the_optimum_of_one_problem_after_the_other(peer, name):
    group = CASES[name].groups[0]
    if group.space.factors and peer.name == "toulbar2, reused":
        with pytest.raises(Unfit, match="nothing to reuse"):
            peer.open(group.space)
        return
    session = peer.open(group.space)
    answers = [session.solve(scores, SECONDS) for scores in group.scores]
    again = session.solve(group.scores[0], SECONDS)
    session.close()

    labels = np.stack([answer.labels for answer in answers])
    best = Exhaustive().solve(group.space, group.scores).value
    assert all(answer.proved for answer in answers)
    assert all(0 < answer.seconds < SECONDS for answer in answers)
    assert group.space.holds(labels).all()
    np.testing.assert_allclose(group.space.value(group.scores, labels), best, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(again.labels, labels[0])


def test_a_rule_over_many_variables_is_unfit_for_tables(peer):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{i}", "ab") for i in range(5)]
    builder.require(at_most(2, [v["a"] for v in variables]))
    space = builder.build()
    scores = np.array([3.0, 0, 1, 0, 2, 0, 5, 0, 4, 0])
    if peer.name.startswith("toulbar2"):
        with pytest.raises(Unfit, match="5 variables"):
            peer.open(space)
        return
    session = peer.open(space)
    assert session.solve(scores, SECONDS).labels.tolist() == [1, 1, 1, 0, 0]


@pytest.mark.skipif(find_spec("gurobipy") is None, reason="gurobipy is not installed")
def test_a_model_beyond_the_trial_licence_of_gurobi_is_unfit():
    group = grid(12, 4, 1).groups[0]
    session = by_name("Gurobi").open(group.space)
    said = None
    try:
        session.solve(group.scores[0], SECONDS)
    except Unfit as unfit:
        said = str(unfit)
    if said is None:
        pytest.skip("there is a full licence here")
    assert said == "does not fit the trial licence"


@pytest.mark.skipif(find_spec("pytoulbar2") is None, reason="pytoulbar2 is not installed")
def test_a_process_that_ends_is_a_failure_with_a_sentence_and_another_one_starts():
    group = CASES["entities"].groups[0]
    peer = by_name("toulbar2, fresh")
    session = peer.open(group.space)
    peer._process.kill()
    with pytest.raises(PeerFailed, match="its process ended"):
        session.solve(group.scores[0], SECONDS)
    assert peer.open(group.space).solve(group.scores[0], SECONDS).proved
    peer.close()


@pytest.mark.skipif(find_spec("pytoulbar2") is None, reason="pytoulbar2 is not installed")
def test_what_goes_wrong_in_a_process_is_told_here():
    group = CASES["entities"].groups[0]
    peer = by_name("toulbar2, fresh")
    session = peer.open(group.space)
    with pytest.raises(PeerFailed, match="IndexError"):
        session.solve(group.scores[0, :3], SECONDS)
    peer.close()
