"""Quads in, quads out: the folder, the change log and the embedded engine; nothing here knows what a state is."""
