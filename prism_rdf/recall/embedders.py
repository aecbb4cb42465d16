"""Texts into vectors: the default model without torch, sentence-transformers, or any callable; nothing is stored here.

Every vector has length 1, so that the dot product of two is their cosine. No text is cut: one that is longer than a
model reads at once is read window by window, and its vector is the mean of theirs, weighted by their length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from prism_rdf.errors import BadArgument, NotFoundError
from prism_rdf.recall import models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

WINDOW = 254  # tokens; all-MiniLM-L6-v2 was trained on 256 with its two marks


class Embedder(Protocol):
    """A model that turns texts into vectors. ``id`` tells models apart: vectors of two are never compared."""

    @property
    def id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text; a text without a word gives a row of zeros."""
        ...


class OnnxEmbedder:
    """A sentence encoder as an ONNX file with its tokenizer, run on the processor; safe to use from several threads.

    Vectors are the mean of the last hidden states (Reimers and Gurevych, Sentence-BERT, 2019), as the model was
    trained. Raises NotFoundError when onnxruntime or tokenizers is not installed.
    """

    def __init__(self, model: Path, tokenizer: Path, name: str) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise NotFoundError(
                f"the default embedder needs {error.name}, which is not installed",
                rule="the default model runs on onnxruntime, without torch",
                mend="pip install onnxruntime tokenizers, or choose another embedder",
            ) from error
        self.id = name
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._begin, self._end = (self._tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads are for others
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self.dimension = int(self._session.get_outputs()[0].shape[-1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), np.float32)
        whole = [text.encode(errors="replace").decode() for text in texts]  # a lone surrogate is no character
        for row, encoding in enumerate(self._tokenizer.encode_batch(whole, add_special_tokens=False)):
            rows[row] = self._pooled(encoding.ids)
        return rows

    def _pooled(self, ids: list[int]) -> Any:
        import numpy as np

        windows = [ids[start : start + WINDOW] for start in range(0, len(ids), WINDOW)]
        vectors = [self._window(window) * len(window) for window in windows]
        return unit(np.sum(vectors, axis=0)) if vectors else np.zeros(self.dimension, np.float32)

    def _window(self, ids: list[int]) -> Any:
        """Return the vector of one window; alone, since padding to the longest of many costs more than it saves."""
        import numpy as np

        marked = np.array([[self._begin, *ids, self._end]], np.int64)
        given = {"input_ids": marked, "attention_mask": np.ones_like(marked), "token_type_ids": np.zeros_like(marked)}
        hidden = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
        return unit(hidden[0].mean(axis=0))


class SentenceTransformersEmbedder:
    """Any model of sentence-transformers, by name or path. Needs the extra ``transformers``, which brings torch."""

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise NotFoundError(
                "sentence-transformers is not installed",
                rule="it brings torch: 200 MB for a processor, several GB with CUDA",
                mend="pip install 'prism-rdf[transformers]', or leave the embedder out for the default one",
            ) from error
        self._model = SentenceTransformer(name)
        self.id = f"sentence-transformers:{name}"
        self.dimension = int(self._model.encode(["a word"]).shape[1])  # the method that tells it changed its name

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        pieces = [self._pieces(text) for text in texts]
        flat = [piece for group in pieces for piece in group]
        vectors = self._model.encode([text for text, _ in flat], normalize_embeddings=True) if flat else []
        rows = np.zeros((len(texts), self.dimension), np.float32)
        place = 0
        for row, group in enumerate(pieces):
            weighed = [vectors[place + index] * size for index, (_, size) in enumerate(group)]
            rows[row] = unit(np.sum(weighed, axis=0)) if weighed else rows[row]
            place += len(group)
        return rows

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        """Return what the model reads at once of a text, each with its number of tokens."""
        tokenizer, most = self._model.tokenizer, int(self._model.max_seq_length or 512) - 2
        spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)[
            "offset_mapping"
        ]
        groups = [spans[start : start + most] for start in range(0, len(spans), most)]
        return [(text[group[0][0] : group[-1][1]], len(group)) for group in groups]


class CallableEmbedder:
    """Any function from texts to rows of numbers, under a name of its own; rows are brought to length 1."""

    def __init__(self, function: Callable[[Sequence[str]], Any], name: str, dimension: int) -> None:
        self._function = function
        self.id = name
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        rows = np.asarray(self._function(list(texts)), np.float32)
        if rows.shape != (len(texts), self.dimension) or not np.isfinite(rows).all():
            raise BadArgument(
                f"embedder {self.id} gave an array of shape {rows.shape} for {len(texts)} texts",
                rule=f"an embedder gives one row of {self.dimension} finite numbers for each text",
                mend="correct the function, or the dimension that was declared",
            )
        return np.vstack([unit(row) for row in rows]) if len(rows) else rows


def unit(vector: Any) -> Any:
    """Return a vector at length 1; zeros stay zeros."""
    import numpy as np

    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def chosen(setting: str) -> Embedder | None:
    """Return the embedder of a setting: ``minilm``, ``sentence-transformers:NAME``, or ``none``, which gives None.

    Raises NotFoundError when its files or packages are not there, BadArgument for another setting.
    """
    kind, _, name = setting.partition(":")
    if kind == "none":
        return None
    if kind == "minilm" and not name:
        files = models.find()
        return OnnxEmbedder(files["model.onnx"], files["tokenizer.json"], models.MODEL_ID)
    if kind == "sentence-transformers" and name:
        return SentenceTransformersEmbedder(name)
    raise BadArgument(
        f"{setting!r} is no embedder",
        rule="an embedder is minilm, none, or sentence-transformers:NAME",
        mend="correct PRISM_EMBEDDER, or unset it for minilm",
    )
