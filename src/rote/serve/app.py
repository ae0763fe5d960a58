"""A service behind HTTP.

    POST /predict   {"input": x} or {"inputs": [x, ...]}; {"answers": [...]}, one for each, in order
    POST /explain   {"input": x, "wanted": {variable: label, ...}}; why its output has not these
    GET /stats      what the service is and what it has done
    GET /health     whether it takes requests
    GET /           a page that shows all this

    404, 405  no such path, no such method on it
    413  a request or an input beyond a limit        422  an input that cannot be read, and why
    500  what answers failed on this request         503  too much to do, or closing: Retry-After

Errors are {"error": a sentence}. The event loop only hands requests on and waits for answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from math import isfinite
from typing import Annotated, Any, TypeVar

import rote
from rote.errors import DataError, InputTooLarge, MissingDependency, Overloaded, RoteError
from rote.serve.service import Service, reason

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import HTMLResponse, JSONResponse
    from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
except ImportError as error:
    raise MissingDependency(
        "a service needs the packages fastapi and uvicorn, which are not installed; "
        "run: pip install '.[serve]' in a checkout of rote"
    ) from error

Asked = TypeVar("Asked", bound=BaseModel)
Finite = Annotated[
    float | None, AfterValidator(lambda x: None if x is None or not isfinite(x) else x)
]
# The page is whole in itself; the browser is told to hold it to that.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


STATUSES = {"too large": 413, "not understood": 422, "overloaded": 503, "failed": 500}


class Query(BaseModel):
    """A request: one input, or several."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"minProperties": 1, "maxProperties": 1}
    )

    input: Any = None
    inputs: list[Any] = []

    @property
    def values(self) -> list[Any]:
        return [self.input] if "input" in self.model_fields_set else self.inputs


class OneAnswer(BaseModel):
    """What `Answer` says; a number that is not finite, which JSON does not have, is null."""

    model_config = ConfigDict(from_attributes=True)

    output: Any
    value: Finite
    bound: Finite
    gap: Finite
    status: str
    source: str


class Answers(BaseModel):
    """One answer for each input, in order."""

    answers: list[OneAnswer]


class Why(BaseModel):
    """The question why the output of an input has not some labels."""

    model_config = ConfigDict(extra="forbid")

    input: Any
    wanted: dict[str, str] = {}


class OneRelaxation(BaseModel):
    """What `Relaxation` says."""

    rules: list[str]
    value: Finite
    best: Finite


class Explained(BaseModel):
    """What `Explanation` says, in sentences as well, and the labels that each variable may have."""

    wanted: dict[str, str]
    answer: dict[str, str] | None
    value: Finite
    instead: dict[str, str] | None
    instead_value: Finite
    value_without_rules: Finite
    cost: Finite
    cost_of_rules: Finite
    broken: list[str]
    conflicts: list[list[str]]
    relaxations: list[OneRelaxation]
    complete: bool
    calls: int
    sentences: list[str]
    labels: dict[str, list[str]]


# The body is read by hand, no further than a limit; so the framework has to be told what it is.
def _described(query: type[BaseModel]) -> dict[str, Any]:
    content = {"application/json": {"schema": query.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def create_app(service: Service) -> FastAPI:
    """The application; when it is shut down, so is the service."""

    @asynccontextmanager
    async def closing(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    # FastAPI's own pages of documentation would be fetched from the network.
    app = FastAPI(
        title="rote", version=rote.__version__, docs_url=None, redoc_url=None, lifespan=closing
    )
    page = files("rote.serve").joinpath("page.html").read_text(encoding="utf-8")

    @app.post("/predict", openapi_extra=_described(Query), response_model=Answers)
    async def predict(request: Request) -> JSONResponse:
        try:
            values = _inputs(await _body(request, service.limits.max_bytes))
            future = service.submit(values)
        except RoteError as error:
            service.refuse(reason(error))
            raise
        answers = await asyncio.wrap_future(future)
        said = [OneAnswer.model_validate(answer) for answer in answers]
        return JSONResponse(Answers(answers=said).model_dump())

    @app.post("/explain", openapi_extra=_described(Why), response_model=Explained)
    async def explain(request: Request) -> JSONResponse:
        try:
            asked = _why(await _body(request, service.limits.max_bytes))
            future = service.submit_question(asked.input, asked.wanted)
        except RoteError as error:
            service.refuse(reason(error))
            raise
        space, why = await asyncio.wrap_future(future)
        labels = {variable.name: variable.labels for variable in space.variables[: space.own]}
        said = why.record() | {"sentences": why.sentences(), "labels": labels}
        return JSONResponse(Explained.model_validate(said).model_dump())

    @app.get("/stats")
    async def stats() -> JSONResponse:
        return JSONResponse(service.stats())

    @app.get("/health")
    async def health() -> JSONResponse:
        status, code = ("open", 200) if service.is_open else ("closed", 503)
        return JSONResponse({"status": status}, code)

    @app.get("/", include_in_schema=False)
    async def show() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY})

    app.add_exception_handler(RoteError, _failed)
    app.add_exception_handler(Exception, _unexpected)
    app.add_exception_handler(HTTPException, _nothing_there)
    return app


async def _nothing_there(request: Request, error: Exception) -> JSONResponse:
    """What the framework refuses by itself: a path or a method that there is not."""
    assert isinstance(error, HTTPException)
    there = "there are POST /predict, POST /explain, GET /stats, GET /health and GET /"
    sentence = f"{there}; got {request.method} {request.url.path}"
    return JSONResponse({"error": sentence}, error.status_code, headers=error.headers)


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    """What nobody thought of, such as an output that JSON does not know; the server logs it."""
    name = type(error).__name__
    sentence = f"the service failed with {name}, which is in the log of the service"
    return JSONResponse({"error": sentence}, 500)


async def _failed(_: Request, error: Exception) -> JSONResponse:
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, Overloaded) else None
    sentence = {"error": " ".join(str(error).split())}
    return JSONResponse(sentence, STATUSES[reason(error)], headers=headers)


async def _body(request: Request, most: int) -> bytes:
    """The body of a request, read no further than a limit allows."""
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                raise InputTooLarge(
                    f"a request has at most {most} bytes; send fewer inputs at once"
                )
    except ClientDisconnect:
        raise DataError("the connection was closed before the request was whole") from None
    return bytes(body)


def _inputs(body: bytes) -> list[Any]:
    how = '{"input": ...} or {"inputs": [...]} and nothing else'
    read = _read(body, Query, how)
    if len(read.model_fields_set) != 1:
        raise _unlike(how, body)
    return read.values


def _why(body: bytes) -> Why:
    return _read(body, Why, '{"input": ..., "wanted": {"variable": "label"}} and nothing else')


def _read(body: bytes, kind: type[Asked], how: str) -> Asked:
    try:
        return kind.model_validate(json.loads(body))
    except ValidationError:
        raise _unlike(how, body) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected a request in JSON: {error}") from None


def _unlike(how: str, body: bytes) -> DataError:
    return DataError(f"a request is {how}; got {body[:80].decode('utf-8', 'replace')}")
