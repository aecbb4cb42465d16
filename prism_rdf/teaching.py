"""Types as verbs: a project teaches the store types, properties, kinds of reference and shapes by files of Turtle."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from prism_rdf import answers
from prism_rdf.canonical.schemas import Schema, faults
from prism_rdf.canonical.texts import KnownText, believed, texts_of
from prism_rdf.canonical.vocabulary import Vocabulary, shipped_version
from prism_rdf.errors import BadArgument, NotFoundError, ValidationError, Violation
from prism_rdf.explaining import commit_at
from prism_rdf.misfits import Misfit, misfits
from prism_rdf.model import Receipt, TypeText
from prism_rdf.namespaces import local_name
from prism_rdf.reading import ReadingVerbs
from prism_rdf.retyping import left_behind
from prism_rdf.validation.can_reference import allowed_references

MOST_MISFITS = 100
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.ttl")
_Answer = dict[str, Any]


@dataclass(frozen=True)
class _Preview:
    """The types of a project before and after a change, and what that makes a misfit: the first ones, and how many."""

    before: Schema
    after: Schema
    first: tuple[Misfit, ...]
    count: int


class TeachingVerbs(ReadingVerbs):
    """The verbs of types."""

    def list_types(self) -> list[_Answer]:
        """Return every type with its zone, its properties, what it may refer to, and where it is declared.

        ``origin`` is "shipped" or a file of the project, ``version`` that of the ontology or the how manieth of the
        file; ``properties`` have ``name, iri, datatype`` or ``class``, ``multi, immutable, identifying, origin``.
        """
        schema = self.prism.schema(self.pid)
        versions = {each["file"]: str(each["version"]) for each in self.list_type_files()}
        allowed = allowed_references(schema.catalog, schema.gate)
        return [
            answers.type_json(known, allowed.get(known.iri, {}), schema.file_of, {"": shipped_version(), **versions})
            for known in schema.catalog.types
        ]

    def list_type_files(self) -> list[_Answer]:
        """Return the files of types of this project, by name: what they declare, and what is wrong with them.

        Each is ``{"file", "version", "commit", "recorded_at", "source", "types", "kinds", "problem"}``. A ``problem``
        says why a file that lies in the folder of the store was not taken in; what was there before still holds, or
        nothing where ``version`` is None.
        """
        schema, texts = self.prism.schema(self.pid), texts_of(self._store, self.names)
        problems = dict(self.prism.type_problems.get(self.pid, {})) | dict(schema.unusable)
        found = [self._file_json(each, texts, schema, problems) for each in texts if each.belief.withdrawn_at is None]
        taken = {each["file"] for each in found}
        unread: _Answer = {
            "version": None,
            "commit": None,
            "recorded_at": None,
            "source": None,
            "types": [],
            "kinds": [],
        }
        found += [{"file": name, **unread, "problem": why} for name, why in problems.items() if name not in taken]
        return sorted(found, key=lambda each: str(each["file"]))

    def type_texts(self) -> dict[str, str]:
        """Return the text of each file of types as it is now, by name."""
        return believed(texts_of(self._store, self.names))

    def add_types(
        self,
        text: str | Mapping[str, str],
        file_name: str = "types.ttl",
        *,
        dry_run: bool = False,
        accept_misfits: bool = False,
        source: str = "",
        idempotency_key: str = "",
    ) -> _Answer:
        """Teach this project the types, properties, kinds and shapes of a Turtle text; it replaces one of its name.

        ``text`` may also be several texts by name, which are taken in together. Returns ``{"dry_run", "files",
        "types", "kinds", "misfits", "misfit_count", "reasoner", …receipt}``: what is ``added, changed, removed``, and
        what holds now and would be refused from now on, at most MOST_MISFITS of it. With ``dry_run`` nothing is
        written. Raises ValidationError with all that is wrong with the texts, or with what they would no longer allow
        unless ``accept_misfits``: that then stays as it is, and only what is written from then on is judged anew.
        """
        texts = {file_name: text} if isinstance(text, str) else dict(text)
        for name in texts:
            _check_name(name)
        wanted = [TypeText(name, content, source) for name, content in sorted(texts.items())]
        return self._teach(wanted, "add_types", dry_run, accept_misfits, idempotency_key)

    def remove_types(
        self,
        file_name: str,
        *,
        dry_run: bool = False,
        accept_misfits: bool = False,
        idempotency_key: str = "",
    ) -> _Answer:
        """Take a file of types away; what is recorded stays. Returns and raises what ``add_types`` does.

        Raises NotFoundError for a file that is not there, ValidationError for a type or kind that something is of.
        """
        return self._teach([TypeText(file_name, None)], "remove_types", dry_run, accept_misfits, idempotency_key)

    def _teach(self, wanted: Sequence[TypeText], verb: str, dry_run: bool, accept: bool, key: str) -> _Answer:
        number = self.prism.commit_number
        preview = self._preview(wanted)
        if preview.count and not accept and not dry_run:
            raise self._refused(preview)
        reasoner = _reasoned(preview.after.own if preview.after is not preview.before else Vocabulary({}))
        receipt = Receipt(None, None)
        if dry_run:
            self._check_there(wanted)
        else:

            def intents() -> Sequence[TypeText]:
                self._check_there(wanted)
                latest = preview if self.prism.commit_number == number else self._preview(wanted)
                if latest.count and not accept:
                    raise self._refused(latest)
                return wanted

            payload = [[each.file_name, each.content] for each in wanted]
            receipt = self.prism.commit(self.pid, intents, verb, key, payload)
        return {
            "dry_run": dry_run,
            "files": [each.file_name for each in wanted],
            **_differences(preview.before, preview.after),
            "misfits": [self._misfit_json(each) for each in preview.first],
            "misfit_count": preview.count,
            "reasoner": reasoner,
            **receipt.as_dict(),
        }

    def _check_there(self, wanted: Sequence[TypeText]) -> None:
        known = self.type_texts()
        for each in wanted:
            if each.content is None and each.file_name not in known:
                raise NotFoundError(
                    f"{self.pid} has no file of types {each.file_name!r}",
                    rule="what ships cannot be removed, a project's own files can, by name",
                    mend=f"its files are: {', '.join(known)}" if known else "it has none",
                )

    def _preview(self, wanted: Sequence[TypeText]) -> _Preview:
        """Return what a change of files would do; raise ValidationError when it cannot be."""
        texts = self.type_texts()
        for each in wanted:
            texts.pop(each.file_name, None)
            if each.content is not None:
                texts[each.file_name] = each.content
        found = faults(tuple(sorted(texts.items())))
        if found:
            raise ValidationError(found)
        before, after = self.prism.schema(self.pid), Schema.of(texts)
        left = tuple(left_behind(self._store, self.names, before, after))
        if left:
            raise ValidationError(left)
        refused = misfits(self._store, self.names, before, after, self.prism.clock.now())
        first = tuple(islice(refused, MOST_MISFITS))
        return _Preview(before, after, first, len(first) + sum(1 for _ in refused))

    def _refused(self, preview: _Preview) -> ValidationError:
        one = preview.count == 1
        error = ValidationError(
            [self._violation_of(each) for each in preview.first],
            message=f"{preview.count} {'thing that holds' if one else 'things that hold'} now would be refused",
        )
        error.rule = "a change of types first says what of the present it would no longer allow"
        error.mend = (
            "change that first, or accept it (--accept-misfits): it stays as it is, and new writes are judged anew"
        )
        return error

    def _violation_of(self, misfit: Misfit) -> Violation:
        found, entity = misfit.violation, misfit.entity
        called = self._called(entity, self.prism.clock.now()) or self.names.uuid_of(entity.value)
        return replace(found, node=str(entity), message=f"{called}: {found.message}")

    def _misfit_json(self, misfit: Misfit) -> _Answer:
        found = misfit.violation
        return {
            "entity": misfit.entity.value,
            "uuid": self.names.uuid_of(misfit.entity.value),
            "identifier": self._called(misfit.entity, self.prism.clock.now()),
            "what": misfit.what,
            "property": local_name(found.path.strip("<>")) if found.path else None,
            "value": found.value,
            "shape": found.shape.strip("<>"),
            "message": found.message,
            "mend": found.mend,
        }

    def _file_json(
        self, text: KnownText, texts: Sequence[KnownText], schema: Schema, problems: Mapping[str, str]
    ) -> _Answer:
        versions = [each.node for each in texts if each.file_name == text.file_name]
        declared = {iri: schema.file_of(iri) for iri in (*(t.iri for t in schema.catalog.types), *_kinds(schema))}
        own = [iri for iri, file in declared.items() if file == text.file_name]
        return {
            "file": text.file_name,
            "version": versions.index(text.node) + 1,
            "commit": commit_at(self._store, self.names, text.belief.recorded_at),
            "recorded_at": text.belief.recorded_at.iso(),
            "source": text.source or None,
            "types": sorted(local_name(iri.value) for iri in own if iri not in _kinds(schema)),
            "kinds": sorted(local_name(iri.value) for iri in own if iri in _kinds(schema)),
            "problem": problems.get(text.file_name),
        }


def _kinds(schema: Schema) -> frozenset[Any]:
    return frozenset(schema.catalog.kinds.values())


def _check_name(name: str) -> None:
    if not _FILE_NAME.fullmatch(name):
        raise BadArgument(
            f"{name!r} cannot be the name of a file of types",
            rule="it ends in .ttl, after a letter or digit and at most 63 of A-Z a-z 0-9 . _ -",
            mend="choose a name such as risks.ttl",
        )


def _reasoned(own: Vocabulary) -> dict[str, str]:
    """Return what the reasoner says of some files; raise ValidationError when they cannot be true."""
    if not own.files:
        return {"status": "not-asked", "message": ""}
    from prism_rdf.canonical.reasoning import reason

    verdict = reason(own)
    if verdict.status == "inconsistent":
        nodes = verdict.classes or ("",)
        rule, mend = "types can be true together", "look at what is said of these classes, and of those above them"
        raise ValidationError([Violation(node, "", "", rule, verdict.message, mend) for node in nodes])
    return {"status": verdict.status, "message": verdict.message}


def _differences(before: Schema, after: Schema) -> dict[str, dict[str, list[str]]]:
    """Return which types and kinds are added, changed and removed."""
    was = {known.iri: known for known in before.catalog.types}
    now = {known.iri: known for known in after.catalog.types}
    changed = [known.name for iri, known in now.items() if iri in was and was[iri] != known]
    kinds = set(before.catalog.kinds), set(after.catalog.kinds)
    return {
        "types": {
            "added": sorted(known.name for iri, known in now.items() if iri not in was),
            "changed": sorted(changed),
            "removed": sorted(known.name for iri, known in was.items() if iri not in now),
        },
        "kinds": {"added": sorted(kinds[1] - kinds[0]), "changed": [], "removed": sorted(kinds[0] - kinds[1])},
    }
