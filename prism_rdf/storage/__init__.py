"""Quads in, quads out: the store's folder, its change log and the embedded engine; nothing here knows what a state is."""
