"""No page points to a file or a heading that is not there."""

import pathlib

import pytest
from pages import PAGES, ROOT, anchors, links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: pathlib.Path):
    dead = []
    for link in links(page.read_text()):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            dead.append(link)
    assert not dead


def test_every_page_is_linked_to():
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in links(page.read_text())
    }
    assert [page for page in PAGES[1:] if page.resolve() not in linked] == []


def test_there_are_links_to_check():
    assert sum(len(links(page.read_text())) for page in PAGES) > 60
