"""The service over HTTP: answers, statuses, and a page that is whole in itself."""

import asyncio
import re
import sys
from html.parser import HTMLParser

import httpx
import pytest

from rote import Engine, Exact
from rote.errors import MissingDependency
from rote.serve import Limits, Service
from rote.serve.app import create_app
from rote.tasks.adapter import Adapter
from rote.tasks.tagging import Tagging


@pytest.fixture
def ask(tagger):
    """Ask an application of its own; each call is a list of (method, path, options)."""
    services = []

    def call(*requests, together=False, **options):
        engine = options.pop("engine", None)
        model = tagger if engine is None else tagger.with_engine(engine)
        service = Service(model, **options)
        services.append(service)
        transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=False)

        async def all_of_them():
            async with httpx.AsyncClient(transport=transport, base_url="http://rote") as client:
                each = (client.request(m, path, **how) for m, path, how in requests)
                if together:
                    return await asyncio.gather(*each)
                return [await one for one in each]

        return asyncio.run(all_of_them())

    yield call
    for service in services:
        service.close()


def post(body):
    how = {"content": body} if isinstance(body, (str, bytes)) else {"json": body}
    return "POST", "/predict", how


STATS = ("GET", "/stats", {})


def test_one_input_and_many_are_answered_alike(ask):
    one, many = ask(post({"input": "the dog"}), post({"inputs": ["the dog", ["a", "cat"]]}))
    assert one.status_code == many.status_code == 200
    answer = one.json()["answers"][0]
    assert answer["output"] == ["B-NP", "I-NP"]
    assert answer["status"] == "optimal"
    assert answer["gap"] == 0
    assert answer["value"] == answer["bound"]
    assert [a["output"] for a in many.json()["answers"]] == [["B-NP", "I-NP"]] * 2
    assert many.json()["answers"][0]["source"] == "cache"
    assert ask(post({"inputs": []}))[0].json() == {"answers": []}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"input', "expected a request in JSON"),
        (b"\xff", "expected a request in JSON"),
        ("[" * 5000 + "]" * 5000, "JSON"),
        ({"inputs": "the dog"}, 'a request is {"input": ...} or {"inputs": [...]}'),
        ({"input": "a", "inputs": []}, "and nothing else"),
        ([], "and nothing else"),
        ({"input": {"a": "dog"}}, "input 0: an input is a text or a list of tokens"),
        ({"inputs": ["a", [["b", "c"]]]}, "input 1: token 0: expected a text for each column"),
        ('{"input": "\\ud800"}', "input 0: is no text"),
    ],
)
def test_what_cannot_be_read_is_answered_by_a_sentence(ask, body, said):
    refused, stats = ask(post(body), STATS)
    assert refused.status_code == 422
    assert said in refused.json()["error"]
    assert stats.json()["refused"] == {"not understood": 1}


def why(body):
    method, _, how = post(body)
    return method, "/explain", how


def test_an_explanation_says_which_rules_forbid_a_label_and_at_what_cost(ask):
    plain, asked, answered, stats = ask(
        why({"input": "the dog"}),
        why({"input": "the dog", "wanted": {"0": "I-NP"}}),
        post({"input": "the dog"}),
        STATS,
    )
    said = plain.json()
    assert said["labels"] == {"0": ["B-NP", "I-NP", "O"], "1": ["B-NP", "I-NP", "O"]}
    assert list(said["answer"].values()) == answered.json()["answers"][0]["output"]
    assert said["conflicts"] == [[]]
    found = asked.json()
    assert found["value"] == answered.json()["answers"][0]["value"]
    assert (found["instead"], found["cost"]) == (None, None)
    assert found["conflicts"] == [["no I-NP at the start"]]
    assert [each["rules"] for each in found["relaxations"]] == [["no I-NP at the start"]]
    assert "forbidden by: no I-NP at the start" in found["sentences"]
    assert stats.json()["asked"] == 1  # explanations are no answers


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"input', "expected a request in JSON"),
        ({"wanted": {}}, 'a request is {"input": ..., "wanted": {"variable": "label"}}'),
        ({"input": "a", "wanted": {"0": 1}}, "and nothing else; got"),
        ({"input": {"a": "dog"}}, "input 0: an input is a text or a list of tokens"),
        ({"input": "a", "wanted": {"9": "O"}}, "no variable is called '9'"),
        ({"input": "a", "wanted": {"0": "X"}}, "variable '0' has no label 'X'"),
        ('{"input": "a", "wanted": {"\\ud800": "X"}}', "input 0: is no text"),
    ],
)
def test_what_cannot_be_explained_is_answered_by_a_sentence(ask, body, said):
    refused, stats = ask(why(body), STATS)
    assert refused.status_code == 422
    assert said in refused.json()["error"]
    assert stats.json()["refused"] == {"not understood": 1}


def test_an_explanation_that_fails_is_a_500_and_the_service_goes_on(ask, monkeypatch):
    monkeypatch.setattr("rote.model.Model.explain", lambda *_, **__: 1 / 0)
    failed, answered = ask(why({"input": "the"}), post({"input": "the"}))
    assert (failed.status_code, answered.status_code) == (500, 200)
    assert "failed with ZeroDivisionError, which is in the log" in failed.json()["error"]


def test_requests_beyond_a_limit_are_refused(ask):
    limits = Limits(max_bytes=100, inputs=2)
    large, many, long, stats = ask(
        post({"input": "a" * 100}),
        post({"inputs": ["a"] * 3}),
        post({"input": "a"}),
        STATS,
        limits=limits,
    )
    assert (large.status_code, many.status_code, long.status_code) == (413, 413, 200)
    assert "at most 100 bytes" in large.json()["error"]
    assert "at most 2 inputs in a request, got 3" in many.json()["error"]
    assert stats.json()["refused"] == {"too large": 2}


def test_an_input_beyond_a_limit_is_refused(ask):
    assert ask(post({"input": "a " * 1001}))[0].status_code == 413


def test_a_service_with_too_much_to_do_says_when_to_come_again(ask):
    busy, stats = ask(post({"inputs": ["a", "b"]}), STATS, limits=Limits(waiting=1))
    assert busy.status_code == 503
    assert int(busy.headers["Retry-After"]) >= 1
    assert "ask again later" in busy.json()["error"]
    assert stats.json()["refused"] == {"overloaded": 1}


def test_an_engine_that_fails_is_a_500_and_the_service_goes_on(ask):
    class Failing(Engine):
        def answer(self, problem, context):
            if len(problem.space.variables) == 1:
                raise ZeroDivisionError("secret")
            return Exact().answer(problem, context)

    failed, well, health = ask(
        post({"input": "dog"}), post({"input": "the dog"}), ("GET", "/health", {}), engine=Failing()
    )
    assert failed.status_code == 500
    assert "ZeroDivisionError" in failed.json()["error"]
    assert "secret" not in failed.text
    assert well.status_code == health.status_code == 200


def own(read, write):
    """An adapter that does what a test says."""
    said = {"hint": lambda _: "anything", "example": lambda _: "anything"}
    return Adapter("own", Tagging, from_json=read, to_json=write, **said)


def failing(*_):
    raise AttributeError("a mistake of one's own")


@pytest.mark.parametrize(
    ("adapter", "said"),
    [
        (own(failing, lambda task, x, y: y), "the adapter failed with AttributeError"),
        (own(lambda task, value: [["the"]], failing), "failed with AttributeError"),
        (
            own(lambda task, value: [["the"]], lambda task, x, y: {1, 2}),
            "the service failed with TypeError",
        ),
    ],
    ids=["read", "write", "no JSON"],
)
def test_an_adapter_that_fails_is_a_500_with_a_sentence(ask, adapter, said):
    reply, stats = ask(post({"input": "the"}), STATS, adapter=adapter, remember=False)
    assert reply.status_code == 500
    assert said in reply.json()["error"]
    assert stats.json()["input"] == {"hint": "anything", "example": "anything"}


def test_the_service_is_closed_with_the_application(tagger):
    service = Service(tagger)
    app = create_app(service)

    async def live():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://rote") as client:
            async with app.router.lifespan_context(app):
                before = await client.get("/health")
            return before, await client.get("/health"), await client.post("/predict", content="{}")

    before, after, late = asyncio.run(live())
    assert (before.status_code, before.json()) == (200, {"status": "open"})
    assert (after.status_code, after.json()) == (503, {"status": "closed"})
    assert late.status_code == 422
    assert not service.is_open


def test_the_page_is_whole_in_itself_and_can_be_used_by_all(ask):
    page = ask(("GET", "/", {}))[0]
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert not re.search(r"(https?:)?//\w", page.text)  # nothing is fetched from elsewhere
    assert "prefers-color-scheme: dark" in page.text
    assert 'name="viewport"' in page.text
    assert "innerHTML" not in page.text  # what people type is shown as text

    class Names(HTMLParser):
        def __init__(self):
            super().__init__()
            self.ids, self.named = set(), set()

        def handle_starttag(self, tag, attrs):
            for name, value in attrs:
                if name == "id":
                    assert value not in self.ids
                    self.ids.add(value)
                if name in ("for", "aria-labelledby", "aria-describedby"):
                    self.named.add(value)

    names = Names()
    names.feed(page.text)
    assert names.named <= names.ids
    assert set(re.findall(r'at\("(\w+)"\)', page.text)) <= names.ids
    assert '<html lang="en">' in page.text


def test_the_page_reads_only_what_stats_have(ask):
    page, stats = (reply for reply in ask(("GET", "/", {}), STATS))
    assert set(re.findall(r"stats\.(\w+)", page.text)) <= set(stats.json())


def test_the_schema_tells_what_a_request_is(ask):
    schema = ask(("GET", "/openapi.json", {}))[0].json()
    body = schema["paths"]["/predict"]["post"]["requestBody"]
    assert set(body["content"]["application/json"]["schema"]["properties"]) == {"input", "inputs"}
    body = schema["paths"]["/explain"]["post"]["requestBody"]
    assert set(body["content"]["application/json"]["schema"]["properties"]) == {"input", "wanted"}


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.delitem(sys.modules, "rote.serve.app")
    with pytest.raises(MissingDependency, match=r"pip install '\.\[serve\]'"):
        import rote.serve.app  # noqa: F401


def test_what_there_is_not_is_answered_by_a_sentence_too(ask):
    path, method = ask(("GET", "/nothing", {}), ("GET", "/predict", {}))
    assert (path.status_code, method.status_code) == (404, 405)
    for reply, got in ((path, "GET /nothing"), (method, "GET /predict")):
        assert reply.json().keys() == {"error"}
        assert reply.json()["error"].endswith(f"GET /; got {got}")


def test_who_leaves_in_the_middle_of_a_request_is_only_counted(tagger):
    said = iter(
        [
            {"type": "http.request", "body": b'{"inp', "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent = []

    async def receive():
        return next(said)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/predict", "headers": []}
    with Service(tagger) as service:
        scope |= {"query_string": b"", "http_version": "1.1", "scheme": "http", "root_path": ""}
        asyncio.run(create_app(service)(scope, receive, send))
        assert service.stats()["refused"] == {"not understood": 1}
    assert sent[0]["status"] == 422
