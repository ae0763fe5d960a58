"""Tasks as JSON and back: whole, or refused with a sentence; nothing in a file is run."""

import importlib
import inspect
import json
import pkgutil
from dataclasses import dataclass, is_dataclass

import numpy as np
import pytest

import rote.tasks
from papers.tasks.synthetic import BinaryPoints
from rote.errors import ModelError
from rote.features import Templates
from rote.io.serialize import described, outline, restored
from rote.tasks.adapter import CLASSES, describe, task_from
from rote.tasks.coreference import Coreference
from rote.tasks.entity_relation import EntityRelation
from rote.tasks.graphs import GraphLabelling
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging
from tests.small_tasks import TAGGING, Order

DESCRIBED = [
    TAGGING,
    Tagging(("a",), Templates(("word", "pos"), ("word[0]", "shape(pos[-1])")), order=2),
    Multiclass(("ham", "spam"), constant=False),
    MultiLabel(("a", "b", "c"), pairs=((0, 1), (1, 2))),
    MultiLabel(("a", "b"), pairs="none"),
    EntityRelation(),
    EntityRelation(("P", "L"), ("none", "in"), {"in": ("P", "L")}),
    EntityRelation(("P",), ("none", "by"), {}, ("by",), "at most 1 relation is by"),
    GraphLabelling(("land", "sea")),
    BinaryPoints(2, ((0, 1), (1, 0))),
    Coreference(max_antecedents=7),
]


def own_features(x):
    return [["bias"] for _ in x]


def own_rules(builder, tokens):
    """None."""


@pytest.mark.parametrize("task", DESCRIBED, ids=lambda task: type(task).__name__)
def test_a_task_comes_back_from_json_as_it_was(task):
    assert task_from(json.loads(json.dumps(describe(task)))) == task


def test_every_task_of_rote_is_in_the_registry():
    found = {}
    for module in pkgutil.iter_modules(rote.tasks.__path__, "rote.tasks."):
        for name, kind in inspect.getmembers(importlib.import_module(module.name), is_dataclass):
            if hasattr(kind, "encode") and kind.__module__ == module.name:
                found[name] = kind
    assert found
    assert found.items() <= CLASSES.items()


@pytest.mark.parametrize(
    ("task", "field"),
    [
        (Tagging(("a",), own_features), "features"),
        (Tagging(("a",), Templates(("word",), ("bias",)), rules=own_rules), "rules"),
    ],
    ids=["features", "rules"],
)
def test_a_function_cannot_be_described_and_the_error_names_its_field(task, field):
    with pytest.raises(ModelError, match=rf"'{field}' of Tagging: the function 'own_{field}'"):
        describe(task)


def test_a_task_of_a_users_own_cannot_be_described():
    with pytest.raises(
        ModelError, match=r"an object of class Order cannot be written down; only .*Tagging"
    ):
        describe(Order())


def test_a_class_that_only_has_the_name_of_one_in_the_registry_is_a_users_own():
    fake = dataclass(frozen=True)(type("Tagging", (), {}))
    with pytest.raises(ModelError, match="cannot be written down"):
        describe(fake())
    assert outline(fake(), CLASSES) == {"own": "Tagging", "settings": {}, "left_out": []}


def test_an_outline_has_what_can_be_written_and_names_the_rest():
    assert outline(Tagging(("a", "b"), own_features, order=0), CLASSES) == {
        "kind": "Tagging",
        "settings": {"labels": ["a", "b"], "order": 0, "bio": False, "rules": None, "max_ngram": 0},
        "left_out": ["features"],
    }
    assert outline(Order(), CLASSES)["own"] == "Order"
    assert outline(Order(), CLASSES)["settings"]["sizes"] == ["small", "large"]


def test_an_outline_of_a_plain_object_has_its_public_attributes():
    class Plain:
        def __init__(self):
            self.labels = ["x"]
            self.size = np.int64(3)
            self.call = own_rules
            self._kept = 1

    assert outline(Plain(), CLASSES) == {
        "own": "Plain",
        "settings": {"labels": ["x"], "size": 3},
        "left_out": ["call"],
    }


def test_mappings_keep_their_order_and_keys_that_are_no_texts():
    value = {("b", 1): 0.5, "a": None}
    back = restored(json.loads(json.dumps(described(value, CLASSES))), CLASSES)
    assert list(back.items()) == [(("b", 1), 0.5), ("a", None)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", np.zeros(2), len])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(ModelError, match="cannot be written down"):
        described(value, CLASSES)


@pytest.mark.parametrize(
    ("description", "match"),
    [
        ({"kind": "os.system", "settings": {}}, "'os.system' is none of .*later version"),
        ({"kind": ["Tagging"], "settings": {}}, "is none of"),
        ({"kind": "Tagging"}, 'has the keys "kind" and "settings"'),
        ({"kind": "Tagging", "settings": []}, 'has the keys "kind" and "settings"'),
        ({"kind": "Multiclass", "settings": {"lables": ["a"]}}, "do not make one: .*lables"),
        ({"kind": "Multiclass", "settings": {"labels": 3}}, "settings of Multiclass"),
        ({"kind": "Templates", "settings": {"columns": ["w"], "templates": ["v[0]"]}}, "Templates"),
        ({"mapping": 3}, "list of pairs"),
        ({"mapping": [[1, 2, 3]]}, "list of pairs"),
        ({"mapping": [[{"mapping": []}, 1]]}, "list of pairs"),
    ],
)
def test_a_description_that_makes_no_task_is_refused(description, match):
    with pytest.raises(ModelError, match=match):
        task_from(description)


@pytest.mark.parametrize("description", [3, None, [], {"mapping": []}])
def test_a_description_of_something_else_is_no_task(description):
    with pytest.raises(ModelError, match="expected the description of a task"):
        task_from(description)
