"""The whole story of the first brief in one script, by the SDK's own client, over stdio and over HTTP."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.slow
PID = "PID-PGR01"


class Teller:
    """Calls tools and returns what they answer; a failure ends the story."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, {"pid": PID, **arguments})
        assert not result.is_error, (tool, result.content)
        return dict(result.structured_content or {})


async def story(target: Any) -> None:
    async with Client(target) as client:
        call = Teller(client)
        assert len((await client.list_tools()).tools) >= 28
        assert len((await call("prism_list_types"))["types"]) == 14

        named = {"type_name": "Project", "initial_props": {"name": "PrismGR"}, "valid_from": "2026-01-01"}
        project = (await call("prism_entity", **named))["uuid"]
        decision = {"number": "ADR-19", "title": "Adopt a tri-graph", "status": "Proposed"}
        adr = (await call("prism_entity", type_name="ADR", initial_props=decision, valid_from="2026-02-01"))["uuid"]
        spec = {"type_name": "SPEC", "initial_props": {"number": "SPEC-19", "title": "Tri-graph"}}
        await call("prism_entity", **spec, valid_from="2026-02-01")

        synonym = {"surface_form": "the prism project", "canonical_entity_uuid": project, "kind": "synonym"}
        await call("prism_alias", **synonym, authority_tier=1)
        assert (await call("prism_resolve_alias", surface_form="The Prism Project"))["uuid"] == project
        reference = {"source": adr, "target": "SPEC-19", "reference_type": "FORMALIZES"}
        await call("prism_reference", **reference, valid_from="2026-02-01")
        [listed] = (await call("prism_list_references", source="ADR-19", target="SPEC-19"))["references"]
        assert listed["kind"] == "FORMALIZES"

        said = "PrismGR installation runs on server1."
        await call("prism_remember", content=said, about=["PrismGR"], created_at="2026-02-10")
        await call("prism_fact", entity_uuid=adr, predicate="status", value="Accepted", valid_from="2026-03-01")
        rename = {"props": {"name": "Prism"}, "event_type": "rename", "valid_from": "2026-06-01"}
        await call("prism_transition", entity_uuid=project, **rename)

        wip = (await call("prism_wip", entity_uuid=adr, props={"status": "Superseded"}, source="session_intent"))["wip"]
        preferred = {"entity_uuid": adr, "prefer_wip": True}
        assert (await call("prism_state_as_of", **preferred))["flag"] == "wip"
        sealed = await call("prism_seal", wip_state_uuid=wip, props_at_seal={"status": "Deprecated"})
        assert "props_drift" in sealed["notes"][0]
        [event] = (await call("prism_blame", entity_uuid=adr, predicate="status"))["events"]
        assert (event["event_type"], event["props_drift"], event["tier"]) == ("wip_sealed", True, 2)
        assert (await call("prism_state_as_of", entity_uuid=adr, as_of="2026-02-15"))["props"]["status"] == "Proposed"

        now = await call("semantic_recall", query="PrismGR installation")
        assert now["hits"][0]["state_flag"] == "historical"
        assert now["hits"][0]["state_summary"] == "[historical: current Project is Prism, this reflects PrismGR]"
        then = await call("semantic_recall", query="PrismGR installation", as_of="2026-03-01")
        assert then["hits"][0]["state_flag"] == "current"

        guess = {"predicate": "status", "value": "Rejected", "tier": 3, "quote": "it was rejected"}
        await call("prism_fact", entity_uuid=adr, **guess)
        [fact] = (await call("prism_list_fact_candidates", status_filter="pending"))["candidates"]
        ruled = await call("prism_review_fact_candidate", candidate_id=fact["uuid"], new_status="promoted")
        assert ruled["applied"]
        assert (await call("prism_state_as_of", entity_uuid=adr))["props"]["status"] == "Rejected"
        await call("prism_alias", surface_form="the prism", canonical_entity_uuid=project, authority_tier=3)
        [alias] = (await call("prism_list_alias_candidates"))["candidates"]
        rejected = await call("prism_review_alias_candidate", candidate_id=alias["uuid"], new_status="rejected")
        assert rejected["status"] == "rejected"

        begun = await call("prism_start")
        assert begun["project"]["identifier"] == "Prism"
        assert begun["counts"]["entities_total"] == 3
        assert (await client.read_resource(f"prism://{PID}/entity/ADR-19")).contents


def test_over_stdio(environment: dict[str, str]) -> None:
    arguments = ["-m", "prism_rdf.cli", "mcp", "--agent", "teller"]
    anyio.run(story, StdioServerParameters(command=sys.executable, args=arguments, env=environment))


def test_over_http(url: str) -> None:
    anyio.run(story, url)
