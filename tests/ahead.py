"""Compile kernels before tests begin, each of them in one process: workers would do many twice.

python -m tests.ahead
"""

from __future__ import annotations

from joblib import Parallel, delayed

from papers.metrics.searches import follow
from papers.tour.ahead import errands, run_errand
from rote.datasets import english_sentences
from rote.inference import Exact
from rote.inference.approximate import RGS, LearnedBeam
from rote.inference.wrappers.decomposed import Decomposed, HammingBall
from rote.learning import Perceptron
from rote.learning.training import train
from rote.model import prepare
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput
from rote.tasks.task import WithoutRules

SENTENCES = english_sentences(40, 0)
OUTPUTS = [EntityRelationOutput.of(x) for x in SENTENCES]


FREE = WithoutRules(EntityRelation())


def model_by(engine, task=FREE):
    return train(task, SENTENCES, OUTPUTS, learner=Perceptron(1), engine=engine)


def climbs():
    model = model_by(Exact())
    follow(model, prepare(model.task, SENTENCES, OUTPUTS, layout=model.layout), RGS(restarts=2))


def waiting_scores():
    model_by(Exact()).with_engine(LearnedBeam(Exact(), theta=0.1)).predict(SENTENCES)


def samples():
    model_by(Decomposed(Exact(), HammingBall(2, sample=3)), EntityRelation())


OURS = {each.__name__: each for each in (climbs, waiting_scores, samples)}


def go(name):
    if name in OURS:
        OURS[name]()
    else:
        run_errand(name)


if __name__ == "__main__":
    Parallel(2, batch_size=1)(delayed(go)(name) for name in [*errands(), *OURS])
