"""Meaning: what else a thing is called and what it refers to; what a thing was like is the temporal room's business."""
