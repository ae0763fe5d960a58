"""Saved models: back as they were, or refused with a sentence that says why."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save as packed

from rote import (
    RGS,
    Amortized,
    BranchAndBound,
    Decomposed,
    Engine,
    Exact,
    Exhaustive,
    Frame,
    HammingBall,
    LearnedBeam,
    Milp,
    Perceptron,
    Slot,
    SpaceBuilder,
    train,
)
from rote.datasets import english_sentences
from rote.errors import LabelError, ModelError
from rote.features import FeatureIndex, Templates
from rote.inference.approximate import LearnedRestarts, UnaryClassifier
from rote.inference.engine import layers
from rote.inference.wrappers.timed import Timed
from rote.learning.distill import distill
from rote.model import Layout, Model, prepare
from rote.model.files import load, save
from rote.tasks.entity_relation import EntityRelation, EntityRelationOutput
from rote.tasks.tagging import Tagging
from rote.tasks.task import Task
from tests.small_tasks import LABELS, ORDERS, TAGGING, TEMPLATES, Order, tagged

XS, YS = tagged(12)


def a_model(task=TAGGING, engine=None, seed=0, **options):
    layout = prepare(task, XS, YS, **options).layout
    weights = np.random.default_rng(seed).normal(size=layout.size)
    return Model(task, layout, weights, engine or Exact())


def function_features(x):
    return TEMPLATES.rows(x)


@pytest.fixture
def folder(tmp_path):
    save(a_model(), tmp_path / "model")
    return tmp_path / "model"


def rewrite(folder, change):
    """Change what model.json holds."""
    path = folder / "model.json"
    saved = json.loads(path.read_text(encoding="utf-8"))
    changed = change(saved)
    path.write_text(json.dumps(saved if changed is None else changed), encoding="utf-8")


def weights_file(folder):
    (path,) = folder.glob("*.safetensors")
    return path


@pytest.mark.parametrize("hashed", [None, {"token": 6}], ids=["names", "hashed"])
def test_a_model_comes_back_with_the_same_weights_and_predictions(tmp_path, hashed):
    model = a_model(hashed=hashed)
    model.save(tmp_path / "new" / "model")
    back = Model.load(tmp_path / "new" / "model")
    assert back.weights.tobytes() == model.weights.tobytes()
    assert back.task == model.task
    assert back.engine == model.engine
    assert back.layout.blocks == model.layout.blocks
    xs, _ = tagged(20, seed=7)
    xs.append((("never",), ("seen",)))
    assert back.predict(xs) == model.predict(xs)


@pytest.mark.parametrize(
    "engine",
    [
        Exact(time_limit=2.5),
        Milp(gap=0.25),
        BranchAndBound(eliminate=False),
        Exhaustive(9),
    ],
    ids=lambda engine: type(engine).__name__,
)
def test_an_engine_of_rote_comes_back_with_its_settings(tmp_path, engine):
    save(a_model(engine=engine), tmp_path)
    assert load(tmp_path).engine == engine
    assert load(tmp_path, engine=Exact()).engine == Exact()


def test_the_classifier_of_a_greedy_search_is_saved_beside_the_weights(tmp_path):
    model = a_model()
    classifier = UnaryClassifier(np.random.default_rng(1).normal(size=model.layout.size))
    model.with_engine(RGS(0.7, 9, classifier, 3)).save(tmp_path)
    found = Model.load(tmp_path).engine
    assert (found.alpha, found.restarts, found.seed) == (0.7, 9, 3)
    assert found.classifier.weights.tolist() == classifier.weights.tolist()
    model.with_engine(LearnedRestarts(RGS(0.2, 5, classifier))).save(tmp_path)
    assert Model.load(tmp_path).engine.alpha == 0.2
    # Without one there is nothing to save, and one of your own is given again.
    model.with_engine(RGS(restarts=4)).save(tmp_path)
    assert Model.load(tmp_path).engine == RGS(restarts=4)

    class CustomFeature:
        def initial(self, space, objective):
            return np.zeros((len(objective), len(space.variables)), np.int64)

    model.with_engine(RGS(0.5, 2, CustomFeature())).save(tmp_path)
    with pytest.raises(ModelError, match="classifier is yours"):
        Model.load(tmp_path)
    assert Model.load(tmp_path, engine=RGS()).engine == RGS()


@pytest.mark.parametrize("alpha", [2.0, "half", None])
def test_a_share_that_makes_no_sense_is_refused(tmp_path, alpha):
    model = a_model()
    model.with_engine(RGS(0.7, 9, UnaryClassifier(np.zeros(model.layout.size)))).save(tmp_path)
    rewrite(tmp_path, putting(alpha, "engine", "settings", "alpha"))
    with pytest.raises(ModelError, match="alpha is a number from 0 to 1"):
        Model.load(tmp_path)


@pytest.mark.parametrize(
    ("engine", "kept"),
    [
        (Timed(), [Exact]),
        (Timed(Decomposed(Amortized(Milp(gap=0.25)), HammingBall(2))), [Milp]),
        (Amortized(Timed(Milp(gap=0.25))), [Milp]),
        (Timed(Amortized(RGS(restarts=3))), [RGS]),
        (LearnedBeam(Timed()), [LearnedBeam, Exact]),
        (Timed(LearnedBeam(Amortized(Timed(Milp(gap=0.25))))), [LearnedBeam, Milp]),
    ],
    ids=lambda value: "" if isinstance(value, list) else type(value).__name__,
)
def test_layers_that_change_no_answer_are_left_out_wherever_they_lie(tmp_path, engine, kept):
    model = a_model(engine=engine)
    model.save(tmp_path)
    back = Model.load(tmp_path)
    assert [type(layer) for layer in layers(back.engine)] == kept
    assert back.predict(XS) == model.predict(XS)


def test_an_engine_of_a_users_own_must_be_given_again(tmp_path):
    class Mine(Engine):
        def answer(self, problem, context):
            return Exact().answer(problem, context)

    save(a_model(engine=Mine()), tmp_path)
    with pytest.raises(ModelError, match=r"the engine Mine cannot be brought back.*engine=\.\.\."):
        load(tmp_path)
    assert load(tmp_path, engine=Exact()).engine == Exact()


def test_a_task_with_a_function_must_be_given_again_and_is_compared(tmp_path):
    task = Tagging(LABELS, function_features)
    model = a_model(task)
    save(model, tmp_path)
    with pytest.raises(ModelError, match=r"Tagging cannot be .* as features is yours; .*task="):
        load(tmp_path)
    assert load(tmp_path, task).predict(XS) == model.predict(XS)
    with pytest.raises(ModelError, match=r"'labels' of Tagging was \[\"B-X\", \"I-X\", \"O\"\]"):
        load(tmp_path, Tagging(LABELS[::-1], function_features))


def test_a_task_without_the_rules_it_was_saved_with_is_refused(tmp_path):
    def rules(builder, tokens):
        builder.require(~tokens[0]["O"], "never O first")

    task = Tagging(LABELS, TEMPLATES, rules=rules)
    save(a_model(task, allow_infeasible_gold=True), tmp_path)
    assert load(tmp_path, task).task is task
    with pytest.raises(ModelError, match=r"'rules' .* was nothing that can be written .* is null"):
        load(tmp_path, Tagging(LABELS, TEMPLATES))


def test_a_task_of_a_users_own_must_be_given_again_and_is_compared(tmp_path):
    task = Order()
    layout = prepare(task, [x for x, _ in ORDERS]).layout
    model = Model(task, layout, np.random.default_rng(0).normal(size=layout.size))
    save(model, tmp_path)
    with pytest.raises(ModelError, match="Order cannot be brought back from a file, as it is your"):
        load(tmp_path)
    xs = [x for x, _ in ORDERS]
    assert load(tmp_path, Order()).predict(xs) == model.predict(xs)
    with pytest.raises(ModelError, match=r"'dishes' of Order was .* and is .* in the task given"):
        load(tmp_path, Order(dishes=("soup", "salad", "pizza")))
    with pytest.raises(ModelError, match="saved with a task Order, got Tagging"):
        load(tmp_path, TAGGING)


class Colour(Task):
    """A task that says nothing of its settings."""

    def __init__(self, labels):
        builder = SpaceBuilder()
        builder.variable("colour", labels)
        self.one_frame = Frame(builder.build(), (Slot("colour", 0),), ("text",))

    def frame(self, x):
        return self.one_frame

    def vectors(self, x):
        return [[x]]

    def encode(self, x, y):
        return self.one_frame.space.encode([{"colour": y}])[0]

    def decode(self, x, labels):
        return self.one_frame.space.decode([labels])[0]["colour"]


def test_a_task_without_settings_whose_labels_have_moved_is_refused(tmp_path):
    task = Colour(("red", "blue"))
    save(train(task, ["fire", "sea"], ["red", "blue"]), tmp_path)
    assert load(tmp_path, Colour(("red", "blue"))).predict(["sea"]) == ["blue"]
    with pytest.raises(LabelError, match=r"learned with the labels \('red', 'blue'\)"):
        load(tmp_path, Colour(("blue", "red"))).predict(["sea"])


def test_a_given_task_with_other_templates_or_labels_is_refused(folder):
    assert load(folder, TAGGING).task is TAGGING
    with pytest.raises(ModelError, match="'labels' of Tagging"):
        load(folder, Tagging(("I-X", "B-X", "O"), TEMPLATES, bio=True))
    with pytest.raises(ModelError, match="'features' of Tagging"):
        load(folder, Tagging(LABELS, Templates(("word",), ("word[0]",)), bio=True))
    with pytest.raises(ModelError, match=r"'features' of .* is nothing that can be written"):
        load(folder, Tagging(LABELS, function_features, bio=True))


def test_a_saved_model_is_text_and_one_array_and_nothing_else(folder):
    saved = json.loads((folder / "model.json").read_text(encoding="ascii"))
    assert (saved["format"], saved["version"]) == ("rote model", 1)
    assert saved["task"]["settings"]["labels"] == list(LABELS)
    assert saved["weights"]["file"] == weights_file(folder).name
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.json",
        weights_file(folder).name,
    ]


def test_saving_again_replaces_the_model_and_its_weights_file(folder):
    first = weights_file(folder)
    save(a_model(seed=1), folder)
    assert weights_file(folder) != first
    assert load(folder).weights.tobytes() == a_model(seed=1).weights.tobytes()
    save(a_model(seed=1), folder)
    assert load(folder).weights.tobytes() == a_model(seed=1).weights.tobytes()


@pytest.mark.parametrize("fails_at", [0, 1], ids=["weights", "description"])
def test_a_save_that_is_cut_short_leaves_the_old_model_whole(folder, monkeypatch, fails_at):
    calls = iter(range(10))

    def sync(descriptor):
        if next(calls) == fails_at:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(ModelError, match="cannot be written: No space left on device"):
        save(a_model(seed=1), folder)
    monkeypatch.undo()
    assert load(folder).weights.tobytes() == a_model().weights.tobytes()
    assert not list(folder.glob(".*"))


SAVING = """
import sys, time
from rote.model.files import load
model, end, saves = load(sys.argv[1]), time.time() + 2, 0
while time.time() < end:
    model.save(sys.argv[2])
    saves += 1
print(saves)
"""


def test_processes_that_save_and_load_one_folder_at_once_find_whole_models(tmp_path):
    shared = tmp_path / "shared"
    models = [a_model(seed=seed) for seed in (1, 2)]
    for k, model in enumerate(models):
        save(model, tmp_path / str(k))
    save(models[0], shared)
    command = [sys.executable, "-c", SAVING]
    children = [
        subprocess.Popen([*command, tmp_path / str(k), shared], stdout=subprocess.PIPE)
        for k in range(2)
    ]
    loaded = []
    while any(child.poll() is None for child in children):
        loaded.append(load(shared).weights.tobytes())
    assert min(int(child.communicate()[0]) for child in children) > 10
    assert {model.weights.tobytes() for model in models} == set(loaded)
    assert load(shared).weights.tobytes() == loaded[-1]
    assert len(list(shared.iterdir())) == 2


def test_the_weights_of_a_save_under_way_are_left_alone(folder):
    other = folder / "weights-0123456789ab.safetensors"
    other.write_bytes(b"of a model that another process is about to name")
    waiting = folder / ".model.json.0123456789ab"
    waiting.write_text("{}")
    save(a_model(seed=1), folder)
    assert other.exists()
    waiting.unlink()
    save(a_model(seed=1), folder)
    assert not other.exists()


def test_a_name_with_half_a_surrogate_pair_survives(tmp_path):
    task = Tagging(("a", "b"), Templates(("word",), ("word[0]",)), order=0)
    xs = [(("\ud800",), ("ok",))]
    layout = prepare(task, xs).layout
    save(Model(task, layout, np.arange(float(layout.size))), tmp_path)
    assert load(tmp_path).layout.indices["token"].names() == layout.indices["token"].names()


def test_an_index_that_still_grew_is_frozen_when_it_comes_back(tmp_path):
    layout = a_model().layout
    growing = FeatureIndex(layout.indices["token"].names())
    save(
        Model(TAGGING, Layout(layout.blocks, {**layout.indices, "token": growing}), layout.zeros()),
        tmp_path,
    )
    assert load(tmp_path).layout.indices["token"].frozen


# -- what is refused ------------------------------------------------------------------------


def test_a_folder_or_a_file_that_is_not_there_or_no_model_is_refused(tmp_path, folder):
    with pytest.raises(ModelError, match=r"model\.json: there is no such file; give the folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"there is no such file"):
        load(folder / "model.json")
    (tmp_path / "odd" / "model.json").mkdir(parents=True)
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / "odd")


def test_saving_over_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ModelError, match="cannot be written"):
        save(a_model(), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_json_cut_off_anywhere_or_without_end_or_no_text_is_refused(folder):
    path = folder / "model.json"
    content = path.read_bytes()
    cuts = [content[:length] for length in (0, 1, len(content) // 3, len(content) - 1)]
    for damaged in (*cuts, b"[" * 100_000, b"\xff\xfe\x00"):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"model\.json: is damaged, it is not JSON"):
            load(folder)


def without(key):
    def change(saved):
        del saved[key]

    return change


def putting(value, *path):
    def change(saved):
        for key in path[:-1]:
            saved = saved[key]
        saved[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda saved: [saved], "expected an object, got list"),
        (putting("pystruct", "format"), "is no rote model; its format is 'pystruct'"),
        (without("format"), "is no rote model"),
        (putting(2, "version"), "has version 2 .* reads up to version 1; install a newer rote"),
        (putting("1", "version"), "the version is a number"),
        (putting(True, "version"), "the version is a number"),
        (without("version"), "the version is a number"),
        (without("task"), "'task' should be of type dict"),
        (without("weights"), "'weights' should be of type dict"),
        (putting({}, "weights"), "'file' should be of type str"),
        (putting({}, "blocks"), "'blocks' should be of type list"),
        (putting([3], "blocks"), "expected an object with name, kind, width"),
        (putting("3", "blocks", 0, "width"), "'width' should be of type int"),
        (putting(-1, "blocks", 0, "width"), "of width -1"),
        (putting("pixel", "blocks", 0, "kind"), "looks at vectors of kind 'pixel'"),
        (putting("2 labels", "blocks", 0, "name"), "one is there twice"),
        (putting("red", "blocks", 0, "labels"), "labels of block .* are texts, got 'red'"),
        (putting([1], "blocks", 0, "labels"), r"labels of block .* are texts, got \[1\]"),
        (putting(2, "blocks", 0, "width"), "have .* weights, model.json says"),
        (putting({"index": "tree"}, "indices", "token"), "index of 'token': .*later version"),
        (putting({"index": "hashed", "bits": 3}, "indices", "token"), "model.json says"),
        (putting(7, "weights", "count"), "model.json says 7"),
        (putting("0" * 64, "weights", "sha256"), "its digest is not the one"),
        (putting("../weights.safetensors", "weights", "file"), "no name of a weights file"),
        (putting("weights-0123456789ab.safetensors", "weights", "file"), "is missing; copy all"),
        (putting("Parser", "task", "kind"), "model.json: 'Parser' is none of .*later version"),
        (putting(3, "task", "settings"), "model.json: a description has the keys"),
        (putting({"labels": 3}, "task", "settings"), "settings of Tagging do not make one"),
        (putting("Oracle", "engine", "kind"), "'Oracle' is none of"),
        (putting(-1, "engine", "settings", "time_limit"), "settings of Exact do not make one"),
    ],
)
def test_a_description_that_is_foreign_future_or_wrong_is_refused(folder, change, match):
    rewrite(folder, change)
    with pytest.raises(ModelError, match=match):
        load(folder)


def test_a_description_without_settings_is_refused_with_a_task_given_too(folder):
    rewrite(folder, putting(3, "task", "settings"))
    with pytest.raises(ModelError, match="the task has no settings"):
        load(folder, TAGGING)


def test_missing_or_damaged_weights_are_refused(folder):
    path = weights_file(folder)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ModelError, match="is damaged, its digest"):
        load(folder)
    path.unlink()
    with pytest.raises(ModelError, match="is missing; copy all files"):
        load(folder)
    path.mkdir()
    with pytest.raises(ModelError, match="cannot be read"):
        load(folder)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        (b"no arrays at all", "is no safetensors file"),
        ({"bias": np.zeros(2)}, r"expected an array 'weights' of float64, got \['bias'\]"),
        ({"weights": np.zeros(2, np.float32)}, "expected an array 'weights' of float64"),
        ({"weights": np.zeros(2)}, r"the array has the shape \(2,\)"),
        ({"weights": np.array([np.inf])}, "weights has numbers that are not finite"),
    ],
    ids=["no safetensors", "other name", "other type", "other shape", "not finite"],
)
def test_weights_that_do_not_fit_are_refused_even_with_the_right_digest(folder, arrays, match):
    content = arrays if isinstance(arrays, bytes) else packed(arrays)
    weights_file(folder).write_bytes(content)
    rewrite(folder, putting(hashlib.sha256(content).hexdigest(), "weights", "sha256"))
    with pytest.raises(ModelError, match=match):
        load(folder)


def test_what_a_speedup_has_learned_is_saved_beside_the_weights(tmp_path):
    sentences = english_sentences(60, 0)
    outputs = [EntityRelationOutput.of(x) for x in sentences]
    model = train(EntityRelation(), sentences, outputs, learner=Perceptron(iterations=2))
    taught = model.with_engine(LearnedBeam(Timed(Exact()), width=3, theta=0.25, step=0.1))
    distill(taught, model.prepare(sentences))
    taught.save(tmp_path)
    found = Model.load(tmp_path)
    assert isinstance(found.engine, LearnedBeam)
    assert (found.engine.width, found.engine.theta) == (3, 0.25)
    assert found.engine.inner == Exact()
    for one, other in zip(found.engine.knowledge, taught.engine.knowledge, strict=True):
        assert np.array_equal(one, other)  # with sums and clock, so that it learns on the same
    assert found.predict(sentences) == taught.predict(sentences)
    path = tmp_path / "model.json"
    saved = json.loads(path.read_text())
    settings = saved["engine"]["settings"]
    known = settings["learned"]["mapping"]
    for families in (None, [], [[key, 10**9] for key, _ in known]):
        learned = None if families is None else {"mapping": families}
        engine = {**saved["engine"], "settings": {**settings, "learned": learned}}
        damaged = {**saved, "engine": engine}
        path.write_text(json.dumps(damaged))
        if families == []:
            assert Model.load(tmp_path).predict(sentences[:1])
        else:
            with pytest.raises(ModelError, match="settings of LearnedBeam do not make one"):
                Model.load(tmp_path)
