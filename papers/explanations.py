"""Why claims did not hold in our whole runs on the real data, a sentence each.

A reason is found by looking closer, and not by the run itself. So it is kept beside the
experiments, by the name of a record and the beginning of a claim, and is said only of whole runs
on the data it was found on.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from papers.records import Claim, Record

EXPLANATIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "punyakanok2005-synthetic": {
            "Inference always helps": "An output that is wrong anyway may have fewer wrong "
            "variables without rules; by whole outputs, inference is behind nowhere.",
        },
        "punyakanok2005-features": {
            "With many features": "Relations stay hard however many features there are, and "
            "over these folds a lead of 1.1 points is not beyond chance.",
        },
        "conll04-learners": {
            "Inference during": "With 288 test sentences, 2.6 points may be chance.",
            "A margin makes": "With 288 test sentences, 2.5 points may be chance.",
        },
        "chang2015-perceptron": {
            "Condition (4) with ε = 1": "An answer within ε of the best that does not outscore the "
            "right output is taken for a mistake, and the perceptron steps away from it in vain: "
            "792 of 1,152 sentences in the last iteration, 5 with exact answers.",
            "So it does": "That mends most of it; but answers within ε hide violations that exact "
            "ones show, and with ε = 1 Theorem 1 guarantees less than a thousandth of the value.",
        },
        "chang2015-cv": {
            "auto: a cache that is forwarded": "Duals settle nearly everything without memory, and "
            "what they leave, memory does not settle either: both make 0.12 % of the calls.",
        },
        "samdani2012-extraction": {
            "DecL takes 3 times less inference than GL, on 300 citations with Blocks": "An engine "
            "made for the one hard rule leaves little to save.",
        },
        "pan2018-speedup-cora": {
            "cora: the speed-up is within": "It is as accurate, but 400 citations to be taught by "
            "are few: three outputs of 100 break a rule before they are repaired.",
        },
        "ma2019-alpha-msrc21": {
            "msrc21: likely starts": "Climbs from drawn starts come to as good outputs: it seems "
            "that the scores of single superpixels lead them there, wherever they begin.",
        },
        "ma2019-testtime-yeast": {
            "With as many climbs": "20 drawn starts find the best that either search finds for "
            "every input, and A-RGS misses it for one of 917.",
        },
        "ma2019-testtime-msrc21": {
            "With as many climbs": "A-RGS finds the best that either search finds for more images "
            "(88 against 84 %), but where it is behind, it is behind by more.",
        },
        "ma2019-testtime-litbank-coref": {
            "With as many climbs": "There are six documents: drawn starts find the best that "
            "either search finds for four of them, A-RGS for three, and scores differ by 0.09 %.",
        },
        "ma2019-training-yeast": {
            "yeast: learning with A-RGS": "A climb between 14 labels takes microseconds, and "
            "learning where to start takes longer than 50 climbs.",
        },
        "ma2019-training-litbank-coref": {
            "Learning with A-RGS loses": "Six documents are learned from and four judged by, so "
            "that it is chance: with seeds 1 and 2 the two are within a point.",
        },
        "ma2019-accuracy-protein": {
            "protein: RGS(α) reaches": "111 chains are too few: what is learned depends on the "
            "draws, and three models of one seed came to 65.2 where three of another came to 64.1.",
        },
    }
)


def explanation(record: Record, claim: Claim) -> str:
    """Why this claim did not hold; empty where it did, or where nobody has looked."""
    if claim.held or record.settings.get("quick") is not False or record.is_made_up:
        return ""
    known = EXPLANATIONS.get(record.name, {})
    return next((why for start, why in known.items() if claim.claim.startswith(start)), "")
