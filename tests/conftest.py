"""In what order the tests run."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The simulated games come first: they run behind all other tests, which wait for pages and ports."""
    items.sort(key=lambda item: item.path.name != "test_soak_games.py")
