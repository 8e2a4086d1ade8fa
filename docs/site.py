"""Build the documentation and check it: `make docs`.

    python docs/site.py build/site

A warning of Sphinx is an error.  Then every link of every page is followed to its file and its heading, and nothing may
be loaded from elsewhere: the site is read from a disk, and nobody learns who reads it.  (Addresses of other sites are
not asked for here: `make docs-links` does that, where there is a network.)
"""

from __future__ import annotations

import sys
from pathlib import Path

from site_checks import faults
from sphinx.cmd.build import build_main

DOCS = Path(__file__).parent


def main() -> None:
    """Build into the folder that is named, and say what is wrong."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent / "build" / "site").resolve()
    # All of it, every time (-E -a): titles in the side bar of a page that has not changed would be old ones.
    if build_main(["-q", "-W", "--keep-going", "-E", "-a", "-d", f"{out}.work", str(DOCS), str(out)]):
        raise SystemExit("the site was not built: see above")
    if wrong := faults(out):
        raise SystemExit("\n".join(wrong))
    print(f"{len(list(out.rglob('*.html')))} pages, every link leads somewhere: open {out / 'index.html'}")


if __name__ == "__main__":
    main()
