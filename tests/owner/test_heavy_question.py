"""A question that never ends keeps nobody from stopping the owner, and nothing acknowledged is lost by it."""

from __future__ import annotations

import threading
import time

from prism_rdf import Prism
from prism_rdf.errors import BusyError
from prism_rdf.owner import stop
from prism_rdf.storage.folder import open_folder

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"


def test_an_owner_with_an_endless_question_can_be_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("PRISM_OWNER", "start")
    monkeypatch.setenv("PRISM_OWNER_IDLE", "60")
    home = tmp_path / "home"
    with Prism.open(home) as prism:
        project = prism.project("demo")
        for number in range(20):
            project.entity("ADR", {"number": f"ADR-{number}", "title": "x"})

        told = []

        def ask():
            try:
                prism.sparql(ENDLESS)
            except BusyError as error:
                told.append(str(error))

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        time.sleep(1)
        began = time.monotonic()
        assert stop(open_folder(home, "default", create=False))
        assert time.monotonic() - began < 30
        asking.join(10)
        assert told == ["the query was stopped: the owner of the store leaves"]
    with Prism.open(home, exclusive=True) as again:
        assert len(again.project("demo").list_entities()) == 20
