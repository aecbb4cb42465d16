"""Queries in processes of their own, so that each can be stopped: the pool, its limits, who asks. No SPARQL is known.

A worker has a copy of the store (hard links, made in milliseconds), which it opens for itself and brings up to date
from the last changes before each query: an answer is of the state at the moment when it was asked for, or of a later
one, and of one commit. What is too much kills the worker, and nothing else: time, memory, size, somebody's wish, a
client that has gone, a query that overflows the stack of the engine.

For a door: ``Prism.sparql(query, …, timeout=seconds, max_rows=N)`` returns a ``QueryAnswer``. Its ``kind`` tells which
formats there are; ``stream(format)`` returns an iterator of bytes, which the worker serialises as they are taken.
What goes wrong before the first piece is raised by ``stream`` itself; afterwards the iterator raises, and the transfer
has to be broken. ``truncated`` says, before anything is read, that ``max_rows`` cut the answer. ``close()`` gives an
answer up. Errors are QueryTimeout (504), QueryStopped and TooManyQueries (503, ``retry_after`` seconds), QueryTooLarge
(413). Put ``workers.asking.asked_by(who, gone)`` around the call: ``who`` is shown and logged, ``gone`` is looked at
meanwhile.
"""
