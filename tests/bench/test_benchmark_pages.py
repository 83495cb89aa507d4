"""Every page of the admin over data of every kind: that it opens, and with how few queries."""

import pytest

from bench.speed import pages
from bench.speed.corpus import Corpus
from bench.speed.layout import plots
from bench.speed.loading import load
from memories.index import configured_embedder

MOST = 19


@pytest.mark.django_db(transaction=True)
def test_every_page_opens_with_few_queries() -> None:
    model = configured_embedder.configured_model()
    assert model is not None
    [place] = load(plots("one", 800), Corpus(model.dimensions), lambda number: None)
    found = list(pages.served(pages.furnish(place), rounds=1))

    assert len(found) > 30
    assert {page.name: page.queries for page in found if page.queries > MOST} == {}


def test_pages_over_the_limit_are_marked() -> None:
    found = [pages.Page("home", 20, 10, 10, 5), pages.Page("x", 2, 1, 1, 0.5)]
    told = list(pages.lines(found, 300, 19))

    assert [line.endswith("over") for line in told] == [False, True, False]
