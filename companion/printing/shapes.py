"""What a drawing is made of: shapes in millimetres, x to the right and y down the paper."""

from dataclasses import dataclass

Point = tuple[float, float]
INK = "#000000"


@dataclass(frozen=True, slots=True)
class Area:
    """Closed outlines that do not cross, filled, outlined or both; colours are "#rrggbb"."""

    outlines_mm: tuple[tuple[Point, ...], ...]
    fill: str | None = None
    edge: str | None = None
    edge_mm: float = 0.2


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle, filled, outlined or both."""

    centre_mm: Point
    diameter_mm: float
    fill: str | None = None
    edge: str | None = None
    edge_mm: float = 0.2


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line, by its middle."""

    start_mm: Point
    end_mm: Point
    colour: str = INK
    width_mm: float = 0.2
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A line of Latin text whose capitals are `height_mm` high and stand on the point; narrower where it has to be."""

    at_mm: Point
    words: str
    height_mm: float
    colour: str = INK
    centred: bool = True
    most_mm: float | None = None
    """No wider than this."""


Shape = Area | Circle | Line | Text


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes on paper of a size; the later ones lie on the earlier ones."""

    width_mm: float
    length_mm: float
    shapes: tuple[Shape, ...]


def rectangle(left_mm: float, top_mm: float, width_mm: float, length_mm: float) -> tuple[Point, ...]:
    """The outline of a rectangle."""
    right_mm, low_mm = left_mm + width_mm, top_mm + length_mm
    return (left_mm, top_mm), (right_mm, top_mm), (right_mm, low_mm), (left_mm, low_mm)
