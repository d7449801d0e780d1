"""README says what the pages say that it links to."""

import re

from pages import ROOT, links, numbers, read, statements, without_links

from algoscope import networks, programs

PICTURES = 4


def _with_pages() -> list[tuple[str, list[str]]]:
    """Statements with numbers that link to pages, and the pages."""
    found = []
    for statement in statements(read("README.md")):
        pages = [link.partition("#")[0] for link in links(statement)]
        pages = [page for page in pages if page.endswith(".md")]
        if pages and numbers(without_links(statement)):
            found.append((statement, pages))
    return found


def test_numbers_are_those_of_the_pages_that_are_linked():
    statements_with_numbers = _with_pages()
    assert len(statements_with_numbers) >= 6
    for statement, pages in statements_with_numbers:
        known = {number for page in pages for number in numbers(read(page))}
        missing = [n for n in numbers(without_links(statement)) if n not in known]
        assert not missing, f"{pages} do not have {missing}: {statement}"


def test_tasks_with_programs_are_counted():
    count = len(programs.tasks_with_references())
    assert f"Programs for {count} tasks" in read("README.md")
    page = read("docs/reference/programs.md")
    assert f"programs for {count} of the 30 tasks" in page


def test_pictures_are_there_and_small():
    pictures = [link for link in links(read("README.md")) if link.endswith((".png", ".svg"))]
    assert len(pictures) == PICTURES
    assert sum(link.startswith("docs/gallery/") for link in pictures) == 3
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture.stat().st_size < 150_000, picture.name


def test_it_is_short():
    assert len(read("README.md").split()) <= 724


def test_its_python_runs():
    names: dict = {}
    blocks = re.findall(r"^```python\n(.*?)^```$", read("README.md"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    network, batch = names["network"], names["batch"]
    assert sum(array.size for array in networks.arrays(network).values()) == 310
    assert network.config.width == 3
    assert names["networks"].score(networks.run(network, batch), batch) == {"pi": 1, "score": 1}
