"""Which frame is shown when."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PIL import Image

from reenact.browser.video import facts
from reenact.browser.video.timeline import VideoTimeline
from reenact.errors import CorruptRecording

WHITE = Image.new("RGB", (640, 360), "white")
GREY = Image.new("RGB", (640, 360), "grey")
BLACK = Image.new("RGB", (640, 360), "black")
CLICK = {"type": "click", "selector": "#go"}
BOX = [100, 100, 80, 30]


def shots_of(filming, kind="real", **options):
    footage = filming.footage()
    timeline = VideoTimeline(footage, facts.read(footage, kind), **options)
    return list(timeline.shots()), timeline


def at(shots, ms):
    """The shot that stands at that moment."""
    return [shot for shot in shots if shot.ms <= ms][-1]


def test_a_picture_is_shown_from_its_time_on(filming):
    filming.frame(1.0, WHITE)
    grey = filming.frame(2.31, GREY)
    filming.line("end", 4.0)
    shots, timeline = shots_of(filming)
    assert shots[0].ms == 0
    assert timeline.duration == 4000
    first = next(shot for shot in shots if shot.picture.blob == grey)
    assert abs(first.ms - 1310) <= 13


def test_times_rise_and_no_frame_stands_for_more_than_a_second(filming):
    filming.frame(0.0, WHITE)
    filming.act(5.0, 5.1, CLICK, box=BOX)
    filming.line("end", 30.0)
    shots, timeline = shots_of(filming)
    gaps = [later.ms - shot.ms for shot, later in pairwise(shots)]
    assert min(gaps) > 0
    assert max(gaps) <= 1025
    assert shots[-1].ms < timeline.duration


def test_a_frame_that_comes_late_is_shown_in_its_place(filming):
    white = filming.frame(0.0, WHITE)
    black = filming.frame(2.0, BLACK)
    grey = filming.frame(1.2, GREY)
    filming.line("end", 3.0)
    shots, _ = shots_of(filming)
    assert [at(shots, ms).picture.blob for ms in (1000, 1300, 2100)] == [white, grey, black]


def test_the_pointer_reaches_the_element_when_the_action_is_done_in_the_time_that_there_is(filming):
    filming.frame(0.0, WHITE)
    filming.act(2.0, 2.1, CLICK, box=BOX, call=1)
    filming.act(4.0, 4.1, CLICK, box=[500, 300, 20, 20], call=2)
    filming.line("end", 6.0)
    shots, timeline = shots_of(filming)
    assert timeline.duration == 7000
    assert at(shots, 1300).ring is None
    assert at(shots, 1500).ring.box == tuple(BOX)
    assert at(shots, 2050).pointer.pressed
    assert (at(shots, 3500).pointer.x, at(shots, 3500).pointer.y) == (140, 115)
    halfway = at(shots, 3800).pointer
    assert 140 < halfway.x < 510
    assert (at(shots, 4000).pointer.x, at(shots, 4000).pointer.y) == (510, 310)
    assert at(shots, 4400).ring is None


def test_the_ring_does_not_reach_back_over_a_page_that_was_another(filming):
    filming.frame(0.0, WHITE)
    filming.line("tab", 1.9, tab=0, what="navigated", url="https://example.com/b", title="")
    filming.frame(1.95, GREY)
    filming.act(2.0, 2.5, CLICK, box=BOX)
    filming.line("tab", 2.2, tab=0, what="navigated", url="https://example.com/c", title="")
    filming.line("end", 4.0)
    shots, _ = shots_of(filming)
    assert at(shots, 1850).ring is None
    assert at(shots, 2100).ring is not None
    assert at(shots, 2250).ring is None


def test_an_action_between_two_others_is_seen_however_short_it_is(filming):
    filming.frame(0.0, WHITE)
    for number in range(5):
        began = 1.0 + number * 0.03
        filming.act(began, began + 0.02, {"type": "press_key", "key": str(number)}, call=number + 1)
    filming.line("end", 2.0)
    shots, _ = shots_of(filming)
    for number in range(5):
        seen = [shot.ms for shot in shots if shot.caption.words == f"Press {number}"]
        assert any(abs(ms - (1000 + 30 * number)) <= 100 for ms in seen)


def test_a_compact_video_halts_before_an_action_and_after_a_failure(filming):
    filming.frame(0.0, WHITE)
    filming.act(20.0, 35.0, CLICK, box=BOX, success=False, message="It is covered.")
    filming.line("end", 36.0)
    shots, timeline = shots_of(filming, "compact")
    (mark,) = timeline.marks
    assert (mark.shown, mark.acts, mark.ended) == (1500, 2100, 3600)
    assert timeline.duration == 3600 + 1200 + 1000 + 1000
    assert at(shots, 3000).speed == 10
    assert at(shots, 3000).ring.colour == "script"
    failed = at(shots, 3700)
    assert (failed.ring.colour, failed.caption.message) == ("failed", "It is covered.")


def test_colours_say_who_acts_and_what_failed(filming):
    filming.frame(0.0, WHITE)
    for number, actor in enumerate(["script", "agent", "heal", "nobody"]):
        filming.act(
            1.0 + number, 1.2 + number, CLICK, box=BOX, actor=actor, call=number + 1, success=number != 2
        )
    filming.line("end", 6.0)
    shots, _ = shots_of(filming)
    assert [at(shots, 1100 + 1000 * number).caption.colour for number in range(4)] == [
        "script", "agent", "heal", "script",
    ]  # fmt: skip
    assert at(shots, 3300).caption.colour == "failed"


def test_the_tab_that_is_worked_in_is_shown(filming):
    one = filming.frame(0.0, WHITE, tab=0)
    filming.line("tab", 0.0, tab=0, what="opened", url="https://example.com/", title="", opener=None)
    filming.line("tab", 1.0, tab=1, what="opened", url="https://example.com/popup", title="", opener=0)
    two = filming.frame(1.1, GREY, tab=1)
    filming.line("tab", 2.0, tab=1, what="active", url="https://example.com/popup", title="")
    three = filming.frame(2.5, BLACK, tab=0)
    filming.line("tab", 3.0, tab=1, what="closed", url="https://example.com/popup", title="")
    filming.line("end", 4.0)
    shots, _ = shots_of(filming)
    assert [at(shots, ms).picture.blob for ms in (1500, 2100, 2700, 3100)] == [one, two, two, three]
    assert [at(shots, ms).caption.tab for ms in (500, 1500, 2100, 3100)] == ["", "tab 1/2", "tab 2/2", ""]
    assert at(shots, 2100).caption.url == "https://example.com/popup"


def test_a_tab_that_closes_under_its_action_leaves_its_last_picture(filming):
    only = filming.frame(0.0, WHITE, tab=0)
    filming.act(1.0, None, CLICK, box=BOX)
    filming.line("tab", 1.05, tab=0, what="closed", url="", title="")
    filming.line("after", 1.2, call=1, tab=0, success=True, message="", url="", title="", selectors=None)
    filming.line("end", 2.0)
    shots, _ = shots_of(filming)
    assert {shot.picture.blob for shot in shots} == {only}


def test_what_is_in_no_pixels_is_on_a_card(filming):
    filming.frame(0.0, WHITE)
    filming.line("dialog", 1.0, tab=0, kind="confirm", text="Leave?", answer="accepted")
    filming.line("download", 4.0, tab=0, url="u", name="a.pdf", size=0, state="started")
    filming.line("download", 4.5, tab=0, url="u", name="a.pdf", size=2000, state="completed")
    filming.line("chooser", 7.0, tab=0, multiple=False)
    filming.line("crash", 10.0, tab=0, what="page")
    filming.line("end", 20.0)
    shots, _ = shots_of(filming)
    cards = {ms: at(shots, ms).cards for ms in (500, 1500, 3500, 4200, 5000, 7500, 19000)}
    assert cards == {
        500: (),
        1500: (("dialog", "confirm → accepted", "Leave?"),),
        3500: (),
        4200: (("download", "a.pdf", "started"),),
        5000: (("download", "a.pdf", "completed, 2.0 kB"),),
        7500: (("chooser", "File chooser", "asks for one file"),),
        19000: (("crash", "The page crashed", ""),),
    }


def test_a_card_does_not_stay_through_the_pauses_of_a_compact_video(filming):
    filming.frame(0.0, WHITE)
    filming.line("dialog", 1.0, tab=0, kind="confirm", text="Leave?", answer="accepted")
    for number in range(4):
        filming.act(1.2 + number / 4, 1.3 + number / 4, {"type": "press_key", "key": str(number)})
    filming.line("end", 9.0)
    shots, _ = shots_of(filming, "compact")
    shown = [shot.ms for shot in shots if shot.cards]
    gone = next(shot.ms for shot in shots if shot.ms > shown[-1])
    assert gone - shown[0] == 2000


def test_a_page_that_comes_back_takes_the_card_of_its_crash_away(filming):
    filming.frame(0.0, WHITE)
    filming.line("crash", 1.0, tab=0, what="page")
    filming.frame(3.0, GREY)
    filming.line("end", 5.0)
    shots, _ = shots_of(filming)
    assert at(shots, 2000).cards
    assert not at(shots, 4000).cards


def test_an_action_that_never_ended_stays_marked(filming):
    filming.frame(0.0, WHITE)
    filming.act(1.0, None, CLICK, box=BOX)
    filming.line("console", 9.0, tab=0, level="log", text="late")
    filming.frame(9.0, GREY)
    shots, _ = shots_of(filming)
    assert shots[-1].ring is not None
    assert not shots[-1].caption.done


def test_a_step_has_the_recording_s_number_where_its_events_are_there(filming):
    filming.frame(0.0, WHITE)
    filming.act(1.0, 1.1, CLICK, box=BOX, call=7)
    filming.act(3.0, 3.1, CLICK, box=BOX, call=9)
    told = facts.read(filming.footage(), numbers={7: 12})
    assert [action.number for action in told.actions] == [12, 2]


def test_what_is_written_after_the_story_was_read_is_no_part_of_it(filming):
    filming.frame(0.0, WHITE)
    filming.frame(1.0, GREY)
    footage = filming.footage()
    timeline = VideoTimeline(footage, facts.read(footage))
    late = filming.frame(1.1, BLACK)
    assert all(shot.picture.blob != late for shot in timeline.shots())


@pytest.mark.parametrize(
    ("event", "members"),
    [
        ("frame", {"tab": "x", "blob": None, "width": "wide", "height": -1, "masks": [[1, 2], None, "x"]}),
        ("before", {"call": None, "tab": None, "actor": 7, "action": ["click"], "target": [1]}),
        ("tab", {}),
        ("dialog", {}),
    ],
)
def test_a_line_with_nonsense_in_it_is_refused_by_file_and_line(filming, event, members):
    filming.frame(0.0, WHITE)
    filming.line(event, 0.5, **members)
    with pytest.raises(CorruptRecording, match=r"session\.1\.jsonl, line 3: damaged"):
        shots_of(filming)


def test_an_outcome_without_its_action_and_a_torn_last_line_are_passed_over(filming):
    filming.frame(0.0, WHITE)
    filming.act(1.1, None, {}, call=2, actor="agent")
    filming.line("after", 1.2, call=99, tab=0, success=True)
    filming.raw(b'{"event": "frame", "t": 1.6, "ta')
    shots, _ = shots_of(filming)
    assert shots[-1].caption.words == "Action"


def test_an_outcome_is_seen_in_the_frame_that_stands_then_wherever_it_falls(filming):
    filming.frame(0.0, WHITE)
    for number in range(20):
        began = 1.0 + number * 0.513
        filming.act(began, began + 0.2, CLICK, box=BOX, call=number + 1, success=False, message="No.")
    filming.line("end", 13.0)
    shots, timeline = shots_of(filming)
    for mark in timeline.marks:
        assert at(shots, mark.shown).caption.step == str(mark.action.number)
        assert at(shots, mark.acts).pointer.pressed
        assert at(shots, mark.ended).caption.message == "No."


def test_the_pointer_stays_pressed_from_a_drag_to_its_drop(filming):
    filming.frame(0.0, WHITE)
    filming.act(2.0, 2.1, {"type": "drag", "selector": "#crate"}, box=BOX, call=1)
    filming.act(5.0, 5.1, {"type": "drop", "selector": "#hold"}, box=[500, 300, 20, 20], call=2)
    filming.act(8.0, 8.1, CLICK, box=BOX, call=3)
    filming.line("end", 10.0)
    shots, timeline = shots_of(filming)
    drop = timeline.marks[1]
    assert all(at(shots, ms).pointer.pressed for ms in (2100, 3500, drop.acts - 30, drop.acts))
    assert not at(shots, drop.acts + 1500).pointer.pressed
    assert not at(shots, timeline.marks[2].glide).pointer.pressed
