"""``python -m prism_rdf.owner HOME TENANT FD``: the daemon that owns the store of a tenant; it detaches itself.

On the file descriptor it says that it answers, or what kept it from it. Doors start it; nobody needs to by hand.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    home, tenant, ready = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if os.fork():
        os._exit(0)  # whoever started it goes on; the daemon has no parent to wait for
    from prism_rdf.owner.daemon import run

    return run(home, tenant, ready)


if __name__ == "__main__":
    sys.exit(main())
