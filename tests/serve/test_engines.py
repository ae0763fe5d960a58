"""A service for a saved model, by the name of its engine; a restart remembers."""

import numpy as np
import pytest

from papers.tasks.synthetic import BinaryVector
from rote import Amortized, Exact, LearnedBeam, Milp, train
from rote.errors import ModelError, SettingError
from rote.inference.stores import MemoryStore
from rote.serve import engines, open_service
from rote.serve.app import OneAnswer
from rote.tasks.adapter import adapter_of


@pytest.fixture
def folder(extractor, tmp_path):
    extractor.save(tmp_path / "extractor")
    return tmp_path / "extractor"


def asked(sentences, as_json):
    return [as_json(x) for x in sentences]


def test_the_models_own_engine_is_amortized_unless_another_is_given(folder):
    with open_service(folder) as service:
        assert isinstance(service.model.engine, Amortized)
        assert isinstance(service.model.engine.inner, Exact)
        assert service.name == "extractor"
    with open_service(folder, Milp()) as service:
        assert isinstance(service.model.engine, Milp)


def test_an_engine_alone_remembers_nothing(folder, sentences, as_json):
    values = asked(sentences[:3], as_json)
    with open_service(folder, Exact()) as service:
        first, again = service.predict(values), service.predict(values)
        assert first == again
        assert "cache" not in service.stats()["by_source"]
        assert service.stats()["solved"] == 6


def test_a_restart_remembers_what_is_in_the_store(folder, sentences, as_json, tmp_path):
    values = asked(sentences, as_json)
    store = str(tmp_path / "answers.sqlite")
    with open_service(folder, store=store) as service:
        first = service.predict(values)
    with open_service(folder, store=store) as service:
        again = service.predict(values)
        stats = service.stats()
        assert service.model.engine.counters.queries == 0  # not even features were looked at
    assert [a.output for a in again] == [a.output for a in first]
    assert stats["by_source"] == {"cache": len(values)}
    assert stats["solved"] == 0


def test_a_speedup_learns_while_it_serves_and_goes_on_after_a_restart(
    extractor, sentences, as_json, tmp_path
):
    values = asked(sentences, as_json)
    folder, learned = tmp_path / "small", tmp_path / "learned"
    extractor.with_weights(extractor.weights / 300).save(folder)  # a step counts for something
    with open_service(folder, "speedup", share=1.0, learned=learned) as service:
        service.predict(values)
        speedup = service.model.engine.inner
        assert speedup.stats["taught"] == len(values)
        assert speedup.stats["mistakes"] > 0
        families, weights, *_ = speedup.knowledge
        assert np.abs(weights).max() > 0
    with open_service(folder, "speedup", share=0.0, learned=learned) as service:
        again = service.model.engine.inner
        assert again.knowledge[0] == families
        assert (again.knowledge[1] == weights).all()
        found = service.predict(values)
        assert again.stats["taught"] == 0
        taught = again.stats["broken"]
    with open_service(folder, "speedup", share=0.0) as service:
        service.predict(values)
        ignorant = service.model.engine.inner.stats["broken"]
    assert taught < ignorant  # it has learned to obey
    assert {answer.source for answer in found} == {"beam", "argmax"}


def test_a_saved_speedup_keeps_what_it_knows(extractor, sentences, tmp_path):
    taught = LearnedBeam(width=4)
    prepared = extractor.prepare(sentences)
    for group in prepared.groups:
        taught.learn(group.space, prepared.scores(extractor.weights, group))
    extractor.with_engine(taught).save(tmp_path / "fast")
    with open_service(tmp_path / "fast", "speedup", share=0.1) as service:
        speedup = service.model.engine.inner
        assert (speedup.width, speedup.share, speedup.proof) == (4, 0.1, True)
        assert (speedup.knowledge[1] == taught.knowledge[1]).all()
        assert isinstance(speedup.inner, Exact)


def test_what_was_learned_under_another_model_is_refused(folder, extractor, tmp_path):
    extractor.with_weights(extractor.weights * 2).with_engine(LearnedBeam()).save(
        tmp_path / "other"
    )
    with pytest.raises(ModelError, match="name another folder for what is learned"):
        open_service(folder, "speedup", learned=tmp_path / "other")
    with pytest.raises(ModelError, match="name another folder for what is learned"):
        # A model, and no LearnedBeam.
        open_service(folder, "speedup", learned=folder, store=str(tmp_path / "a.sqlite"))
    assert not (tmp_path / "a.sqlite").exists()


def test_a_task_without_an_adapter_leaves_no_store_behind(tmp_path):
    model = train(BinaryVector(2), [np.ones(2), -np.ones(2)], [(1, 1), (0, 0)])
    model.save(tmp_path / "vectors")
    store = tmp_path / "answers.sqlite"
    with pytest.raises(ModelError, match="register an Adapter"):
        open_service(tmp_path / "vectors", store=str(store))
    assert not store.exists()


def test_a_store_is_let_go_if_the_service_does_not_start(folder, monkeypatch):
    class Open(MemoryStore):
        closed = False

        def close(self):
            self.closed = True

    def fails(*_, **__):
        raise RuntimeError("no more threads")

    store = Open()
    monkeypatch.setattr(engines, "open_store", lambda address: store)
    monkeypatch.setattr(engines, "Service", fails)
    with pytest.raises(RuntimeError, match="no more threads"):
        open_service(folder, store="memory")
    assert store.closed


@pytest.mark.parametrize(
    ("engine", "options", "said"),
    [
        ("quick", {"store": "a.sqlite"}, "amortized, speedup or one of your own; got 'quick'"),
        ("amortized", {"share": 0.1}, "for the engine speedup"),
        (Exact(), {"learned": "folder"}, "for the engine speedup"),
        (Exact(), {"store": "a.sqlite"}, "keeps nothing in a store"),
        ("speedup", {"share": 2.0, "store": "a.sqlite"}, "from 0 to 1"),
        ("amortized", {"store": "answers"}, "a store is"),
    ],
)
def test_settings_that_do_not_go_together_are_refused_and_no_store_is_made(
    folder, engine, options, said, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=said):
        open_service(folder, engine, **options)
    assert not (tmp_path / "a.sqlite").exists()


def test_duals_are_tried_only_where_nothing_is_to_be_learned(folder):
    with open_service(folder) as service:
        assert service.model.engine.certificate == "auto"
    with open_service(folder, "speedup") as service:
        assert service.model.engine.certificate.name == "same"


def test_a_search_that_leaves_out_features_serves_as_it_predicts(
    extractor, sentences, as_json, tmp_path
):
    taught = LearnedBeam(width=2, step=1.0)
    prepared = extractor.prepare(sentences)
    for group in prepared.groups:
        taught.learn(group.space, prepared.problem(extractor.weights, group))
    extractor.save(tmp_path / "model")
    engine = taught.with_theta(0.05)
    expected = extractor.with_engine(taught.with_theta(0.05)).predict(sentences)
    with open_service(tmp_path / "model", engine) as service:
        found = service.predict(asked(sentences, as_json))
        speedup = service.stats()["speedup"]
    adapter, task = adapter_of(extractor.task), extractor.task
    assert [a.output for a in found] == [
        adapter.to_json(task, x, y) for x, y in zip(sentences, expected, strict=True)
    ]
    assert speedup["skipped"] > 0
    unknown = [answer for answer in found if np.isnan(answer.value)]
    assert unknown
    for answer in unknown:
        record = OneAnswer.model_validate(answer).model_dump()
        assert (record["value"], record["bound"], record["gap"]) == (None, None, None)
        assert (record["status"], record["source"]) == ("feasible", "beam")
