"""When the table counts as settled: after enough equal pictures and enough time, once, and never under a hand."""

import pytest

from companion.settle import SETTLED_ALREADY, Patience, Settle, Stage

PATIENCE = Patience(frames=3, rest_s=0.2, hand_s=2.0)


def stages(script: str, step_s: float, patience: Patience = PATIENCE, look_at_once: bool = True) -> str:
    """One letter a picture: m moving, h hand, r resting, L settled (a look is taken), s steady."""
    settle, told = Settle(patience), ""
    for n, what in enumerate(script):
        settle = settle.after(n * step_s, moved=what in "mM", hand=what in "hM", changed=what == "c")
        told += {Stage.MOVING: "m", Stage.HAND: "h", Stage.RESTING: "r", Stage.SETTLED: "L", Stage.STEADY: "s"}[
            settle.stage
        ]
        if settle.stage is Stage.SETTLED and look_at_once:
            settle = settle.looked()
    return told


@pytest.mark.parametrize(
    ("seen", "step_s", "told"),
    [
        # In: . still, m something moves, h a hand lies still, M a hand moves, c the board is not as at the last look.
        pytest.param("m....", 0.1, "mrLss", id="the first look is due at once"),
        pytest.param("m........", 0.05, "mrrrLssss", id="a fast camera waits for the time"),
        pytest.param("m....", 1.0, "mrLss", id="a slow camera waits for the pictures"),
        pytest.param("m...m....", 0.1, "mrLsmrLss", id="what moved is looked at again"),
        pytest.param("m...c...", 0.1, "mrLsLsss", id="a change that nobody saw happen is looked at"),
        pytest.param("m..MhhhhM....", 0.1, "mrLmhhhhmrrLs", id="a hand is waited out"),
        pytest.param("m.m.m.m....", 0.1, "mrmrmrmrrLs", id="while it flickers nothing is settled"),
        pytest.param("M" + "h" * 21, 0.1, "m" + "h" * 19 + "L", id="what lies there too long is no hand"),
    ],
)
def test_a_look_is_taken_once_the_table_is_at_rest(seen, step_s, told):
    assert stages(seen, step_s)[: len(told)] == told


def test_pictures_of_settled_tables_are_each_looked_at_unless_a_hand_is_in():
    assert stages("....", 1.0, SETTLED_ALREADY) == "Lsss"
    assert stages("chch", 1.0, SETTLED_ALREADY) == "LhLh"


def test_a_look_stays_due_until_it_is_taken():
    assert stages("m.....", 0.1, look_at_once=False) == "mrLLLL"


def test_a_hand_is_remembered_until_the_look_after_it():
    settle = Settle(PATIENCE)
    for n, hand in enumerate((True, True, False, False, False)):
        settle = settle.after(n * 0.1, moved=hand, hand=hand, changed=hand)
    assert settle.stage is Stage.SETTLED
    assert settle.hand_seen
    assert not settle.looked().hand_seen
