"""SPARQL UPDATE and files of RDF: what they change, as quads and as verbs; it is written by the commit alone."""
