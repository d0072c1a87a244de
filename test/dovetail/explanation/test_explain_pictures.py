"""What the pictures are made of: where nodes stand, and what counts as a difference between two stages."""

import torch

import dovetail
from dovetail.explanation.picture_records import Line, Memory, MemoryStep, Node, Stage
from dovetail.explanation.pictures.graph import HEIGHT, WIDTH, draw
from dovetail.explanation.pictures.memory import HEIGHT as HIGHEST
from dovetail.explanation.pictures.memory import chart
from dovetail.explanation.pictures.stages import Change, changes


def node(role: str, *sources: int) -> Node:
    return Node(role, role, sources, "float32[4]", "")


CHAIN = [
    node("input"),  # 0
    node("forward", 0),
    node("forward", 1),
    node("result", 2),
    node("saved", 1),  # 4
    node("tangent"),
    node("recomputed", 4),  # 6
    node("backward", 5),
    node("backward", 6, 7),
    node("gradient", 8),
]


def test_forward_runs_down_and_backward_up():
    """Would catch an op drawn before what it is computed from, or on the wrong side of the cut."""
    boxes = {box.number: box for box in draw(CHAIN).boxes}
    assert [boxes[each].y for each in range(4)] == sorted({boxes[each].y for each in range(4)})
    assert [boxes[each].y for each in (9, 8, 7, 5)] == sorted({boxes[each].y for each in (9, 8, 7, 5)})
    assert boxes[6].y == boxes[7].y, "a recomputed op stands right before its user"
    border = boxes[4].x
    assert all((box.x < border) == (box.number < 4) for box in boxes.values() if box.number != 4)


def test_saved_value_stands_beside_what_computes_it():
    """Would catch edges across the border that lead all over the picture."""
    boxes = {box.number: box for box in draw(CHAIN).boxes}
    assert boxes[4].y == boxes[1].y
    drawing = draw(CHAIN)
    assert [edge.crosses for edge in drawing.edges].count(True) == 2
    assert sorted(boxes[4].edges) == [index for index, edge in enumerate(drawing.edges) if edge.crosses]


def test_input_that_is_saved_only_is_one_node():
    """Would catch an input drawn far from the backward, which alone uses it."""
    drawing = draw([node("input"), node("saved", 0), node("tangent"), node("backward", 1, 2)])
    assert [box.node.role for box in drawing.boxes] == ["saved", "tangent", "backward"]


def test_boxes_never_overlap():
    """Would catch nodes drawn over each other where a level is wide, or many values are saved at one place."""
    wide = [node("input"), *(node("forward", 0) for _ in range(200)), *(node("saved", 1) for _ in range(30))]
    drawing = draw([*wide, node("tangent"), *(node("backward", 201 + each, 231) for each in range(30))])
    corners = sorted((box.x, box.y) for box in drawing.boxes)
    for index, (x, y) in enumerate(corners):
        for other_x, other_y in corners[index + 1 :]:
            assert abs(other_x - x) >= WIDTH or abs(other_y - y) >= HEIGHT
    assert drawing.width < 4 * drawing.height
    assert drawing.height < 4 * drawing.width


def test_nothing_to_draw():
    """Would catch a graph without ops ending the page."""
    assert draw([]).boxes == ()


def stage(name: str, *lines: str) -> Stage:
    return Stage(name, tuple(Line(line, "", "", "") for line in lines))


def change(before: tuple[str, ...], after: tuple[str, ...]) -> Change:
    (found,) = changes([stage("input", *before), stage("a-pass", *after)])
    return found


def marked(found: Change) -> list[tuple[str, list[str]]]:
    rows = [row for row in found.rows if row.mark in ("removed", "added")]
    return [(row.mark, [part for part, is_marked in row.parts if is_marked]) for row in rows]


def test_new_number_is_no_difference():
    """Would catch every line after a removed one shown as changed."""
    found = change(
        ("%0 = torch.a %arg0", "%1 = torch.b %arg0", "%2 = torch.c %1, %1"),
        ("%0 = torch.b %arg0", "%1 = torch.c %0, %0"),
    )
    assert marked(found) == [("removed", [])]
    assert (found.removed, found.added) == (1, 0)


def test_other_operand_is_a_difference():
    """Would catch a changed use passed over because the text happens to have the same number."""
    found = change(
        ("%0 = torch.a %arg0", "%1 = torch.b %arg0", "%2 = torch.c %1, %0"),
        ("%0 = torch.a %arg0", "%1 = torch.b %arg0", "%2 = torch.c %0, %0"),
    )
    assert marked(found) == [("removed", ["%1"]), ("added", ["%0"])]
    found = change(("%0 = torch.a %arg0", "%1 = torch.c %0"), ("%0 = torch.b %arg0", "%1 = torch.c %0"))
    assert marked(found)[2:] == [("removed", ["%0"]), ("added", ["%0"])]


def test_other_attribute_is_a_difference():
    """Would catch tags that a pass sets going unseen, or the whole line marked for one word."""
    found = change(
        ('%0 = torch.a %arg0 {dovetail.placement = "view"} : f32',),
        ('%0 = torch.a %arg0 {dovetail.placement = "region"} : f32',),
    )
    assert marked(found) == [("removed", ["view"]), ("added", ["region"])]


def test_numbers_begin_anew_in_each_function():
    """Would catch values of one function taken for those of the one before."""
    head = "  func.func @{}(%arg0: f32) {{"
    text = (head.format("f"), "%0 = torch.a %arg0", "  }", head.format("g"), "%0 = torch.b %arg0", "return %0", "  }")
    found = change(text, text[:1] + text[2:])
    assert marked(found) == [("removed", [])]


def test_numbers_begin_anew_in_a_new_function():
    """Would catch the same where the function's own line differs."""
    before = ("  func.func @f(%arg0: f32) {", "%0 = torch.a %arg0", "  }", "  func.func @g() {", "torch.b %0", "  }")
    after = (*before[:3], "  func.func @g(%arg0: f32) {", "%0 = torch.c %arg0", *before[4:])
    assert marked(change(before, after))[-2:] == [("removed", ["%0"]), ("added", ["%0"])]


def test_unchanged_lines_are_folded():
    """Would catch a page of what no pass has touched."""
    same = tuple(f"torch.x{number} %arg0" for number in range(10))
    found = change((*same, "torch.a %arg0"), same)
    assert [(row.mark, row.count) for row in found.rows] == [("hidden", 8), ("same", 0), ("same", 0), ("removed", 0)]
    assert [(row.mark, row.count) for row in change(same, same).rows] == [("hidden", 10)]


def test_chart_is_on_one_scale():
    """Would catch forward and backward each filling its panel, whatever they hold."""
    forward = Memory("forward", 10, (MemoryStep("forward:2", "alloc", "", 100), MemoryStep("forward:4", "free", "", 0)))
    backward = Memory("backward", 20, (MemoryStep("backward:0", "read", "", 50),))
    drawn = chart([forward, backward])
    assert [panel.peak_y for panel in drawn.panels] == [0, HIGHEST / 2]
    assert drawn.panels[1].width == 2 * drawn.panels[0].width
    assert [number for _, number in drawn.marks] == [0, 25, 50, 75, 100]


def test_dataflow_goes_through_regions():
    """Would catch an edge that ends at a region's border, or at memory that a later region overwrites."""
    x, w = torch.linspace(0, 1, 4096).reshape(64, 64), torch.ones(64, 64, requires_grad=True)
    (program,) = dovetail.explain(lambda x, w: ((x @ w).exp() @ w).relu(), x, w).graphs
    names = [each.name for each in program.nodes]
    for name, sources in {"aten.exp": ["aten.mm"], "aten.relu": ["aten.mm"]}.items():
        found = program.nodes[names.index(name)]
        assert [program.nodes[each].name for each in found.sources] == sources
    second = [each for each in program.nodes if each.name == "aten.mm" and each.role == "forward"][1]
    assert [program.nodes[each].name for each in second.sources] == ["aten.exp", "w"]
    (gradient,) = [each for each in program.nodes if each.role == "gradient"]
    assert gradient.name == "w"
    assert [program.nodes[each].role for each in gradient.sources] == ["backward"]
