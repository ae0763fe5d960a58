"""What was answered is said again, within a limit, and beyond the process with a store."""

from rote.inference.stores import MemoryStore, SqliteStore
from rote.serve.answer_cache import KEY, AnswerCache, key_of

ANSWER = (["D", "N"], 0.1 + 0.2, 0.1 + 0.2)


def test_the_order_of_keys_makes_no_difference_and_all_else_does():
    assert key_of({"a": 1, "b": "é"}) == key_of({"b": "é", "a": 1})
    different = [{"a": 1}, {"a": 1.0}, {"a": "1"}, ["a", 1], "a", None, [], {}]
    assert len({key_of(value) for value in different}) == len(different)
    assert len(key_of("a")) == KEY


def test_an_answer_comes_back_to_the_last_bit():
    remembered = AnswerCache("m")
    remembered.put({key_of("a"): ANSWER})
    assert remembered.get(key_of("a")) == ANSWER
    assert remembered.get(key_of("b")) is None
    assert len(remembered) == 1


def test_beyond_the_limit_what_was_not_asked_for_longest_goes():
    one = KEY + len('["o",1.0,1.0]')
    remembered = AnswerCache("m", max_bytes=2 * one)
    for name in "ab":
        remembered.put({key_of(name): ("o", 1.0, 1.0)})
    assert remembered.get(key_of("a"))  # so that b is the oldest
    remembered.put({key_of("c"): ("o", 1.0, 1.0)})
    assert [remembered.get(key_of(name)) is not None for name in "abc"] == [True, False, True]
    remembered.put({key_of("c"): ("o", 2.0, 2.0)})  # in the place of the old one
    assert len(remembered) == 2
    remembered.put({key_of("d"): ("o" * one, 1.0, 1.0)})
    assert remembered.get(key_of("d")) is None or len(remembered) == 1


def test_a_store_is_shared_and_outlives_the_process(tmp_path):
    file = tmp_path / "answers.sqlite"
    with SqliteStore(file) as store:
        AnswerCache("m", store).put({key_of("a"): ANSWER})
    with SqliteStore(file) as store:
        again = AnswerCache("m", store)
        assert again.get(key_of("a")) is None  # nothing was fetched yet
        again.fetch()
        assert again.get(key_of("a")) == ANSWER
        AnswerCache("m", store).put({key_of("b"): ANSWER})
        again.fetch()
        assert again.get(key_of("b")) == ANSWER


def test_another_model_has_a_log_of_its_own_and_damaged_blobs_are_passed_over():
    store = MemoryStore()
    cache = AnswerCache("m", store)
    cache.put({key_of("a"): ANSWER})
    (blob,) = store.read(cache.log.name)[0]
    store.clear()
    store.append(cache.log.name, [bytes([blob[0] ^ 1]) + blob[1:], b"", blob[:-1]])
    store.append(AnswerCache("n", store).log.name, [blob])
    for model in "mn":
        reader = AnswerCache(model, store)
        reader.fetch()
        assert len(reader) == 0
