"""The command `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rote.cli.app import ModelFolder, app, option
from rote.cli.engines import ANYTIME, UNTIMED, engine_named


@app.command()
def serve(
    model: ModelFolder,
    host: Annotated[
        str, option("The address to listen on; use 0.0.0.0 to accept other machines.")
    ] = "127.0.0.1",
    port: Annotated[int, option("The port to listen on; 0 is any that is free.")] = 8000,
    engine: Annotated[
        str,
        option(
            "amortized: the model's own engine, with a memory of what it has solved. speedup: a "
            "search that learns from that engine's answers. Or an engine without a memory: "
            f"{', '.join([*ANYTIME, *UNTIMED])}."
        ),
    ] = "amortized",
    store: Annotated[
        str | None, option("Keep answers beyond a restart: FILE.sqlite or redis://HOST.")
    ] = None,
    share: Annotated[
        float | None, option("The fraction of inputs that speedup learns from; 0.05 if not given.")
    ] = None,
    learned: Annotated[
        Path | None, option("The folder to keep what speedup has learned in.", file_okay=False)
    ] = None,
) -> None:
    """Answer requests with a model over HTTP, and show on a page what that costs."""
    from rote.serve.engines import AMORTIZED, SPEEDUP, open_service
    from rote.serve.run import check_extra
    from rote.serve.run import serve as run

    check_extra()
    remembering = (AMORTIZED, SPEEDUP)
    chosen = engine if engine in remembering else engine_named(engine, None, remembering)
    service = open_service(model, chosen, store=store, share=share, learned=learned)
    said = f"{service.name} is served by {service.engine} at {{}}; stop with Ctrl-C"
    run(service, host, port, lambda address: typer.echo(said.format(address)))
