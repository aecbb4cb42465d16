"""Where the packages lie: prism_server is server/, and ontology/, shapes/ and queries/ ship inside prism_rdf.

Everything else about the distribution is in pyproject.toml.
"""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGES = {name: name.replace(".", "/") for name in find_packages(include=["prism_rdf", "prism_rdf.*"])}
PACKAGES["prism_server"] = "server"
for name in find_packages("server"):
    PACKAGES[f"prism_server.{name}"] = f"server/{name.replace('.', '/')}"

DATA: dict[str, list[str]] = {
    "prism_rdf": ["py.typed"],
    "prism_rdf.ingest": ["mappings/*.toml"],
    "prism_server": ["templates/**", "static/**", "*.json"],
}
for top in ("ontology", "shapes", "queries"):
    for folder in [Path(top), *sorted(path for path in Path(top).rglob("*") if path.is_dir())]:
        package = "prism_rdf." + ".".join(folder.parts)
        PACKAGES[package] = folder.as_posix()
        DATA[package] = ["*.ttl", "*.rq"]

setup(packages=sorted(PACKAGES), package_dir=PACKAGES, package_data=DATA, include_package_data=False)
