"""What may be written and what is sound: the SHACL gate, reports, and the named checks; nothing is stored here."""
