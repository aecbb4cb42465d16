"""Tables of an older system into intents: artifacts with their history, and its memories; nothing is written here."""

from prism_rdf.migrate.legacy import LEGACY, Legacy, legacy_of
from prism_rdf.migrate.mapping import MigrationMapping, load
from prism_rdf.migrate.report import BadRow, MigrationReport
from prism_rdf.migrate.taking import Migration, Taken

__all__ = [
    "LEGACY",
    "BadRow",
    "Legacy",
    "Migration",
    "MigrationMapping",
    "MigrationReport",
    "Taken",
    "legacy_of",
    "load",
]
