"""`companion judge`: the rules alone. One JSON object a line comes in, the set-up first; one answer a line goes out.

A line that is JSON but cannot be, as a set-up with 13 disks of a colour, is answered with refused and changes nothing.
"""

from companion.judge.magestone import MagestoneJudge
from companion.judge.pathstone import PathstoneJudge
from companion.judge.pathways import PathwaysJudge

JUDGES: dict[str, type[PathwaysJudge | PathstoneJudge | MagestoneJudge]] = {
    "pathways": PathwaysJudge,
    "pathstone": PathstoneJudge,
    "magestone": MagestoneJudge,
}

__all__ = ["JUDGES", "MagestoneJudge", "PathstoneJudge", "PathwaysJudge"]
