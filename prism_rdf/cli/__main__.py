"""``python -m prism_rdf.cli`` is the ``prism`` command."""

import sys

from prism_rdf.cli import main

sys.exit(main())
