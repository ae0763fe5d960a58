"""Labels and entities beside those of transformers' own pipeline, from a small untrained model."""

from __future__ import annotations

import pytest

from rote.adapters.huggingface import RuledTokens

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

LABELS = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}
TEXTS = ["Ada Lovelace met Babbage", "in London", "London, Ada and Babbage unhappily met Ada in it"]
PIECES = "[UNK] [PAD] [CLS] [SEP] Ada Love ##lace met Bab ##bage in Lon ##don , and un ##hap ##pily"


@pytest.fixture(scope="module")
def pipe():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {piece: k for k, piece in enumerate(PIECES.split())}
    own = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {f"{name.lower()}_token": f"[{name}]" for name in ("UNK", "PAD", "CLS", "SEP")}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=own, **names)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.9,
        id2label=LABELS,
    )
    torch.manual_seed(3)
    model = transformers.BertForTokenClassification(config).eval()
    return transformers.pipeline("token-classification", model=model, tokenizer=tokenizer)


@pytest.fixture(scope="module")
def batch(pipe):
    """What the tokenizer and the model say of all texts."""
    options = {"padding": True, "return_tensors": "pt", "return_offsets_mapping": True}
    encodings = pipe.tokenizer(TEXTS, **options)
    inputs = {name: value for name, value in encodings.items() if name != "offset_mapping"}
    return encodings, pipe.model(**inputs).logits  # which have a gradient


@pytest.mark.parametrize("aggregation", ["simple", "first", "average", "max"])
def test_without_rules_the_entities_are_those_of_the_pipeline(pipe, batch, aggregation):
    encodings, logits = batch
    found = RuledTokens(pipe.model.config.id2label, encoding=None).entities(
        logits, encodings, TEXTS, aggregation
    )
    expected = pipe(TEXTS, aggregation_strategy=aggregation)
    assert sum(map(len, expected)) > 5
    assert [[(e["entity_group"], e["start"], e["end"]) for e in own] for own in found] == [
        [(e["entity_group"], e["start"], e["end"]) for e in own] for own in expected
    ]
    scores = [e["score"] for own in found for e in own]
    assert scores == pytest.approx([e["score"] for own in expected for e in own], abs=1e-5)
    assert all(
        text[e["start"] : e["end"]] == e["word"]
        for text, own in zip(TEXTS, found, strict=True)
        for e in own
    )


def test_with_bio_and_a_rule_the_labels_are_valid(pipe, batch):
    encodings, logits = batch
    rules = "at most 1 tokens are B-PER\nat most 0 tokens are B-LOC"
    ruled = RuledTokens(pipe.model.config.id2label, rules=rules)
    labels = torch.tensor(
        [[-100 if w is None else 0 for w in encodings.word_ids(k)] for k in range(len(TEXTS))]
    )
    ids = ruled.predict(logits.bfloat16(), encodings["attention_mask"], labels)
    assert ((ids == -100) == (labels.numpy() == -100)).all()
    assert ids.max() <= 2
    for row in ids:
        own = row[row != -100].tolist()
        assert own.count(1) <= 1
        assert all(a in (1, 2) for a, b in zip([0, *own], own, strict=False) if b == 2)
    assert (ids == 1).any()
    entities = ruled.entities(logits, encodings, TEXTS)
    assert {e["entity_group"] for own in entities for e in own} == {"PER"}
    assert max(map(len, entities)) == 1
