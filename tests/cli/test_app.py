"""The command `rote` itself."""

import subprocess
import sys
from pathlib import Path

import rote

ROOT = Path(__file__).parent.parent.parent


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"rote {rote.__version__}\n", "")


def test_a_flag_is_named_as_the_shell_writes_it(run, monkeypatch):
    def refused() -> None:
        raise rote.SettingError("leave n_jobs out, or say allow_infeasible_gold=True; got x=2")

    monkeypatch.setattr("rote.cli.app.app", refused)
    assert run() == (2, "", "rote: leave --jobs out, or say --allow-infeasible-gold; got x=2\n")


def test_ctrl_c_within_a_kernel_is_no_traceback(run, monkeypatch):
    def interrupted() -> None:
        raise SystemError("a kernel returned a result with an exception set") from KeyboardInterrupt

    monkeypatch.setattr("rote.cli.app.app", interrupted)
    assert run() == (130, "", "")


INTERRUPTED = """
import sys, tomllib
from importlib import import_module
from pathlib import Path
class Interrupting:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
scripts = tomllib.loads(Path("pyproject.toml").read_text())["project"]["scripts"]
module, name = scripts["rote"].split(":")
getattr(import_module(module), name)()
"""


def test_ctrl_c_while_rote_is_imported_is_one_line():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "rote: stopped\n")
