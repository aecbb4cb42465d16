"""A small set of own types for the tests: risks, services, and a kind of reference between them."""

from __future__ import annotations

HEAD = """
@prefix my: <https://example.org/my#> .
@prefix prism: <https://w3id.org/prism-rdf/ns#> .
@prefix type: <https://w3id.org/prism-rdf/type#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
TYPES = """
my:Service a owl:Class, prism:Type ; rdfs:subClassOf type:Component .
my:Risk a owl:Class, prism:Type ; rdfs:subClassOf prism:Entity ;
    prism:immutableProperty my:riskId ; prism:mutableProperty prism:title, my:severity, my:label, my:affects .
my:riskId a owl:DatatypeProperty ; prism:identifying true .
my:severity a owl:DatatypeProperty .
my:label a owl:DatatypeProperty .
my:affects a owl:ObjectProperty ; rdfs:range my:Service .
"""
KIND = """
my:MITIGATES a owl:ObjectProperty, prism:ReferenceKind .
my:MITIGATES-ends a sh:NodeShape ; sh:targetSubjectsOf my:MITIGATES ; sh:class prism:Document ;
    sh:property [ sh:path my:MITIGATES ; sh:class my:Risk ] ;
    sh:message "Only a document mitigates a risk. Swap them." .
"""
SHAPE = """
my:Risk-state a sh:NodeShape ; sh:targetClass my:Risk ;
    sh:property [ sh:path my:severity ; sh:minCount 1 ; sh:in ( "low" "high" ) ;
                  sh:message "A risk has a severity. Say low or high." ] .
"""
ALL = HEAD + TYPES + KIND + SHAPE
