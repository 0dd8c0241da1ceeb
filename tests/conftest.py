"""How the tests are spread over the cores."""

import os

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: it waits for the simulated games, which run behind all other tests."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The simulated games come first."""
    items.sort(key=lambda item: item.path.name != "test_soak_games.py")
