"""What the papers import of the library is promised, but for a list that only gets shorter."""

import ast
from importlib import import_module
from pathlib import Path

from tools.reference import promised

PAPERS = Path(__file__).parents[2] / "papers"
EXPORTED = promised()
OPEN = ("rote.errors", "rote.settings")

# By name, which modules of papers import what is not promised.
NOT_PROMISED = {
    "rote.cli.app.app": "commands",
    "rote.cli.printing.progress_bar": "commands",
    "rote.inference.approximate.search_trace.RestartResult": "ma2019.testtime metrics.searches",
    "rote.inference.solvers.highs.HighsSession": "chang2015.plain_mip",
    "rote.inference.solvers.integer_program.integer_program": "chang2015.plain_mip",
    "rote.inference.wrappers.decomposed.sets.NeighbourhoodSets": "samdani2012.exactness",
    "rote.io.atomic.write_whole": "records report.page",
    "rote.io.conll.numbered_sentences": "data.conll04",
    "rote.io.text.line_error": (
        "data.checks data.cmu_seminar data.columns data.conll04 data.cora_citations "
        "data.coreference data.entity_stream data.protein data.up_english_ewt"
    ),
    "rote.io.text.numbered_lines": "data.columns data.conll04 data.coreference",
    "rote.io.text.read_text": "data.entity_stream",
    "rote.kernels.learning.linear.add_label": "samdani2012.exactness",
    "rote.learning.base.check_examples": "samdani2012.exactness",
    "rote.space.compiled.keep_recent": "samdani2012.fields",
    "rote.space.reasons.BrokenConstraint": "samdani2012.fields",
    "rote.tasks.coreference.clusters_of": "ma2019.hard ma2019.structures",
    "rote.tasks.entity_relation_features.ENTITY": "punyakanok2005.features",
    "rote.tasks.entity_relation_features.PAIR": "punyakanok2005.features",
    "rote.tasks.graphs.UNLABELLED": "data.msrc21 ma2019.structures",
    "rote.tasks.show.differing": "samdani2012.fields",
    "rote.tasks.show.rules_broken": "samdani2012.fields",
    "rote.torch.files.KINDS": "ma2019.cnn",
    "rote.torch.inputs.Dense": "ma2019.cnn",
    "rote.torch.inputs.Inputs": "ma2019.cnn",
    "rote.torch.scorer.Scorer": "ma2019.cnn",
    "rote.torch.scorer.cross_entropy": "ma2019.cnn",
}


def is_promised(module: str, name: str) -> bool:
    """Whether a namespace or a room exports the name, or all names of its module are open."""
    if module in OPEN:
        return not name.startswith("_")
    rooms = module.count(".") == 1 and getattr(import_module(module), "__all__", ())
    return name == "__version__" or name in EXPORTED.get(module, rooms or ())


def imported() -> set[tuple[str, str, str]]:
    """Module of papers, module of rote and name, of all imports."""
    found = set()
    for path in PAPERS.rglob("*.py"):
        own = ".".join(path.relative_to(PAPERS).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rote":
                found |= {(own, str(node.module), alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {
                    (own, alias.name, "") for alias in node.names if alias.name.startswith("rote")
                }
    return found


def test_papers_import_promised_names_but_for_this_list():
    found = {each for each in imported() if not is_promised(*each[1:])}
    listed = {
        (own, *name.rsplit(".", 1)) for name, users in NOT_PROMISED.items() for own in users.split()
    }
    assert found - listed == set()
    assert listed - found == set()  # no longer needed: take it off the list


def test_names_are_promised_by_rote_and_by_its_rooms_alone():
    assert is_promised("rote", "Exact")
    assert is_promised("rote.model", "Dataset")
    assert is_promised("rote.types", "FloatArray")
    assert not is_promised("rote", "no_such_name")
    assert not is_promised("rote.types", "_hidden")
    assert not is_promised("rote.model", "write_whole")
    assert not is_promised("rote.inference.approximate", "UnaryClassifier")
