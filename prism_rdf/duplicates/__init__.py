"""The duplicates room: which entities may be one thing, how likely, and why; merging them is done elsewhere."""

MERGE_AT = 0.97  # measured on labelled pairs: of those that a rule may merge at this score, 99 of 100 are one thing
REVIEW_AT = 0.5  # below it two are more likely two
