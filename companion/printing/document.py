"""Writes drawings as a PDF true to size: a first page with rulers and the plan, then the pages to cut and glue.

The drawing is stored once and shown through each page's window.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO

from reportlab.lib.colors import HexColor
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from companion.printing.paper import MARGIN_MM, OVERLAP_MM, Paper, Tile, Tiling
from companion.printing.shapes import INK, Area, Circle, Drawing, Line, Point, Shape, Text, rectangle

RULER_MM = 150.0
_FONT = "Helvetica"
_CAPITALS = 0.718
"""Of the font's size."""
_CUT = "#9a9a9a"
_BLEED_MM = 1.0
"""Printed beyond a cutting line, so that a careless cut shows no white."""
_BAR_MM = 100.0
"""Of the scale at the foot of each page."""
_FOOT_MM = 6.0
"""From the lower edge to the foot's line."""
_POSTER = "poster"


@dataclass(frozen=True, slots=True)
class Print:
    """What goes into one document: how to make it, a drawing to glue together, and sheets of single pages."""

    title: str
    steps: tuple[str, ...]
    poster: Drawing
    sheets: tuple[Drawing, ...] = ()


def write_pdf(printed: Print, tiling: Tiling, paper: Paper) -> bytes:
    """The document, its poster on the tiling's pages and the rest on upright ones."""
    total = 1 + len(tiling.tiles) + len(printed.sheets)
    out = BytesIO()
    canvas = Canvas(out, pagesize=_pt(paper.size_mm()), invariant=1)
    canvas.setTitle(printed.title)
    canvas.setCreator("board-companion")
    # A viewer that scales to fit would spoil every measure.
    canvas.setViewerPreference("PrintScaling", "None")
    page = _Page(canvas, paper.size_mm())
    page.draw(_first_page(printed, tiling, paper))
    page.end(printed.title, 1, total)
    _store(canvas, _POSTER, printed.poster)
    for number, part in enumerate(tiling.tiles, 2):
        canvas.setPageSize(_pt(tiling.page_mm))
        page = _Page(canvas, tiling.page_mm)
        page.show(part)
        page.draw(_cuts(part, tiling))
        page.end(f"{printed.title}, column {part.column + 1} row {part.row + 1}", number, total)
    for number, sheet in enumerate(printed.sheets, 2 + len(tiling.tiles)):
        canvas.setPageSize(_pt(paper.size_mm()))
        page = _Page(canvas, paper.size_mm())
        page.draw(sheet.shapes, (MARGIN_MM, MARGIN_MM))
        page.end(f"{printed.title}, tokens", number, total)
    canvas.save()
    return out.getvalue()


class _Page:
    """One page, by its millimetres from the upper left corner."""

    def __init__(self, canvas: Canvas, page_mm: tuple[float, float]) -> None:
        self._canvas, self._page_mm = canvas, page_mm

    def draw(self, shapes: Iterable[Shape], at_mm: Point = (0.0, 0.0)) -> None:
        """Draws shapes, their origin at a point of the page."""
        self._canvas.saveState()
        self._canvas.translate(at_mm[0] * mm, (self._page_mm[1] - at_mm[1]) * mm)
        for shape in shapes:
            _draw(self._canvas, shape)
        self._canvas.restoreState()

    def show(self, part: Tile) -> None:
        """Shows a part of the poster within the margins."""
        canvas = self._canvas
        canvas.saveState()
        canvas.translate(MARGIN_MM * mm, (self._page_mm[1] - MARGIN_MM) * mm)
        window = canvas.beginPath()
        window.rect(
            -_BLEED_MM * mm,
            -(part.length_mm + _BLEED_MM) * mm,
            (part.width_mm + 2 * _BLEED_MM) * mm,
            (part.length_mm + 2 * _BLEED_MM) * mm,
        )
        canvas.clipPath(window, stroke=0, fill=0)
        canvas.translate(-part.left_mm * mm, part.top_mm * mm)
        canvas.doForm(_POSTER)
        canvas.restoreState()

    def end(self, title: str, number: int, total: int) -> None:
        """Draws the foot: a scale of 100 mm, the title and the page's number."""
        width_mm, length_mm = self._page_mm
        low_mm = length_mm - _FOOT_MM
        marks: list[Shape] = [Line((MARGIN_MM, low_mm), (MARGIN_MM + _BAR_MM, low_mm))]
        for k in range(11):
            x_mm = MARGIN_MM + k * _BAR_MM / 10
            marks.append(Line((x_mm, low_mm - (1.5 if k % 5 else 2.5)), (x_mm, low_mm)))
        words = f"{title} - page {number} of {total}"
        left_mm = MARGIN_MM + _BAR_MM + 2
        room_mm = width_mm - MARGIN_MM - left_mm
        marks.append(Text((left_mm, low_mm), "= 100 mm     " + words, 1.9, centred=False, most_mm=room_mm))
        self.draw(marks)
        self._canvas.showPage()


def _store(canvas: Canvas, name: str, drawing: Drawing) -> None:
    """Stores a drawing by a name, its origin at the upper left and x, y as on paper."""
    edge = math.ceil(_BLEED_MM * mm)
    canvas.beginForm(
        name,
        lowerx=-edge,
        lowery=-math.ceil(drawing.length_mm * mm) - edge,
        upperx=math.ceil(drawing.width_mm * mm) + edge,
        uppery=edge,
    )
    for shape in drawing.shapes:
        _draw(canvas, shape)
    canvas.endForm()


def _draw(canvas: Canvas, shape: Shape) -> None:
    match shape:
        case Area(outlines, fill, edge, edge_mm):
            _pens(canvas, fill, edge, edge_mm)
            path = canvas.beginPath()
            for outline in outlines:
                path.moveTo(*_at(outline[0]))
                for point in outline[1:]:
                    path.lineTo(*_at(point))
                path.close()
            canvas.drawPath(path, stroke=edge is not None, fill=fill is not None)
        case Circle(centre, diameter_mm, fill, edge, edge_mm):
            _pens(canvas, fill, edge, edge_mm)
            canvas.circle(*_at(centre), diameter_mm / 2 * mm, stroke=edge is not None, fill=fill is not None)
        case Line(start, end, colour, width_mm, dashed):
            _pens(canvas, None, colour, width_mm)
            canvas.setDash([2 * mm, 1.5 * mm] if dashed else [])
            canvas.line(*_at(start), *_at(end))
            canvas.setDash([])
        case Text():
            _write(canvas, shape)


def _write(canvas: Canvas, text: Text) -> None:
    size = text.height_mm / _CAPITALS * mm
    wide = stringWidth(text.words, _FONT, size)
    if text.most_mm is not None and wide > text.most_mm * mm:
        size *= text.most_mm * mm / wide
    canvas.setFont(_FONT, size)
    canvas.setFillColor(HexColor(text.colour))
    (canvas.drawCentredString if text.centred else canvas.drawString)(*_at(text.at_mm), text.words)


def _pens(canvas: Canvas, fill: str | None, edge: str | None, edge_mm: float) -> None:
    if fill is not None:
        canvas.setFillColor(HexColor(fill))
    if edge is not None:
        canvas.setStrokeColor(HexColor(edge))
        canvas.setLineWidth(edge_mm * mm)


def _at(point_mm: Point) -> Point:
    return point_mm[0] * mm, -point_mm[1] * mm


def _pt(size_mm: tuple[float, float]) -> tuple[float, float]:
    return size_mm[0] * mm, size_mm[1] * mm


def _cuts(part: Tile, tiling: Tiling) -> tuple[Shape, ...]:
    """Where a page is cut, and up to where the next one is laid over it."""
    width_mm, length_mm = tiling.page_mm
    upright, lying = [], []
    if part.column > 0:
        upright.append(MARGIN_MM)
    if part.column < tiling.columns - 1:
        upright.append(MARGIN_MM + part.width_mm - OVERLAP_MM)
    if part.row > 0:
        lying.append(MARGIN_MM)
    if part.row < tiling.rows - 1:
        lying.append(MARGIN_MM + part.length_mm - OVERLAP_MM)
    end_mm = length_mm - MARGIN_MM + 1
    return (
        *(Line((x, 4.0), (x, end_mm), _CUT, 0.1, dashed=True) for x in upright),
        *(Line((4.0, y), (width_mm - 4.0, y), _CUT, 0.1, dashed=True) for y in lying),
    )


def _first_page(printed: Print, tiling: Tiling, paper: Paper) -> tuple[Shape, ...]:
    """How to make it, a ruler each way, and which page goes where."""
    left_mm, top_mm = 20.0, 24.0
    shapes: list[Shape] = [Text((left_mm, top_mm), printed.title, 6.0, centred=False)]
    steps = (
        f'Print on {paper.upper()} at 100 % ("actual size"), without fitting to the page.',
        "Measure both rulers: if 150 mm are not 150 mm each way, the printer has scaled the pages.",
        *_gluing(tiling),
        *printed.steps,
    )
    room_mm = paper.size_mm()[0] - 2 * left_mm
    for number, step in enumerate(steps, 1):
        top_mm += 6.5
        shapes.append(Text((left_mm, top_mm), f"{number}. {step}", 2.4, centred=False, most_mm=room_mm))
    top_mm += 12.0
    shapes += _ruler((left_mm, top_mm), along=(1, 0))
    shapes += _ruler((left_mm, top_mm), along=(0, 1))
    shapes += _plan(printed.poster, tiling, (left_mm + 25.0, top_mm + 20.0), RULER_MM - 50.0)
    return tuple(shapes)


def _gluing(tiling: Tiling) -> tuple[str, ...]:
    if len(tiling.tiles) == 1:
        return ()
    return (
        "Cut pages along the dashed lines at their left and upper edges; leave the strips on the right and below.",
        "From the upper left on, glue each page over the strip of the one before, up to the dashed line there.",
    )


def _ruler(start_mm: Point, along: tuple[int, int]) -> list[Shape]:
    """A ruler of 150 mm to the right or down, its ticks and numbers on the far side from the page's middle."""
    across = (-along[1], -along[0])

    def place(far_mm: float, off_mm: float) -> Point:
        return (
            start_mm[0] + along[0] * far_mm + across[0] * off_mm,
            start_mm[1] + along[1] * far_mm + across[1] * off_mm,
        )

    shapes: list[Shape] = [Line(place(0, 0), place(RULER_MM, 0))]
    for k in range(int(RULER_MM) + 1):
        tick_mm = 5.0 if k % 10 == 0 else 3.5 if k % 5 == 0 else 2.0
        shapes.append(Line(place(k, 0), place(k, tick_mm), width_mm=0.1))
        if k % 10 == 0 and (k > 0 or along == (1, 0)):
            x, y = place(k, 8.0 if along == (0, 1) else 6.0)
            shapes.append(Text((x, y + (1.0 if along == (0, 1) else 0.0)), str(k), 2.0))
    return shapes


def _plan(poster: Drawing, tiling: Tiling, at_mm: Point, room_mm: float) -> list[Shape]:
    """The pages as they lie, with their numbers, in small."""
    scale = room_mm / max(poster.width_mm, poster.length_mm)
    shapes: list[Shape] = []
    for number, part in enumerate(tiling.tiles, 2):
        left, top = at_mm[0] + part.left_mm * scale, at_mm[1] + part.top_mm * scale
        last_column, last_row = part.column == tiling.columns - 1, part.row == tiling.rows - 1
        wide = (part.width_mm - (0 if last_column else OVERLAP_MM)) * scale
        long = (part.length_mm - (0 if last_row else OVERLAP_MM)) * scale
        shapes.append(Area((rectangle(left, top, wide, long),), edge=INK))
        high_mm = min(4.0, long / 3)
        shapes.append(Text((left + wide / 2, top + long / 2 + high_mm / 2), str(number), high_mm, most_mm=wide * 0.8))
    name = f"{poster.width_mm:g} x {poster.length_mm:g} mm on {len(tiling.tiles)} pages"
    shapes.append(Text((at_mm[0], at_mm[1] - 3.0), name, 2.4, centred=False))
    return shapes
