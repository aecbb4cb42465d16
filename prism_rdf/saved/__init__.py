"""Saved queries: what their headers say, how parameters are bound, where they are kept; what a query sees is elsewhere.

A saved query is a file of SPARQL whose first lines are a header::

    #+ summary: Drafts that nobody has touched for some days, the longest untouched first.
    #+ why: Work in progress that is forgotten is neither done nor given up.
    #+ parameters:
    #+   days (integer = 30): how many days without a touch make a draft stale
    #+ dataset: raw
    #+ columns:
    #+   draft: the thread

``$name`` is a parameter: one of the header, ``$now``, or in a query of raw graphs a layer of the project
(``$temporal``). ``?name`` is a variable.
"""
