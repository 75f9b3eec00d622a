"""What the decoded frames of a video show: the ring on an element, the pointer, and surfaces of one grey."""

from __future__ import annotations

from itertools import pairwise

import av

from reenact.browser.video.overlays import BAR, COLOURS


def decoded(path):
    """Each frame of a video as (milliseconds since its begin, milliseconds of its end, picture)."""
    with av.open(str(path)) as container:
        last = container.duration / 1000
        frames = [(frame.time * 1000, frame.to_image()) for frame in container.decode(video=0)]
    return [
        (ms, later, image)
        for (ms, image), (later, _) in pairwise([*frames, (max(last, frames[-1][0]), None)])
    ]


def _near(pixel, colour, most=90):
    return sum(abs(one - other) for one, other in zip(pixel, colour, strict=True)) <= most


def ringed(image, box, colours=tuple(COLOURS)):
    """True if each side of the ring round an element has one of the actors' colours.

    H.264 mixes the colours of neighbours, and the pointer or a text below may touch a side: one of its points is enough.
    """
    x, y, across, down = box
    places = (0.25, 0.5, 0.75)
    sides = [
        [(x - 5, y + down * at) for at in places],
        [(x + across + 4, y + down * at) for at in places],
        [(x + across * at, y - 5) for at in places],
        [(x + across * at, y + down + 4) for at in places],
    ]
    seen = [[image.getpixel((round(left), round(top))) for left, top in side] for side in sides]
    return any(
        all(any(_near(pixel, COLOURS[colour]) for pixel in side) for side in seen) for colour in colours
    )


def pointed(image, point):
    """True if the black arrow with its white edge has its tip there."""
    x, y = (round(one) for one in point)
    inside, edge = image.getpixel((x + 2, y + 9)), image.getpixel((x - 1, y + 9))
    return sum(inside) < 200 and sum(edge) > 500


def greyed(image):
    """The share of the page's pixels that the commonest grey has; white and black are no grey."""
    page = image.crop((0, 0, image.width, image.height - BAR)).resize((160, 90))
    counts = [
        count for count, colour in page.getcolors(1 << 16)
        if max(colour) - min(colour) < 20 and 40 < colour[0] < 225
    ]  # fmt: skip
    return max(counts, default=0) / (160 * 90)


def unmarked(footage, video, path=None):
    """The actions on elements in sight whose ring no frame shows within 100 ms of their beginning, and their number."""
    frames = decoded(path or video.path)
    width, height = footage.head["viewport"]
    missing, count = [], 0
    for entry in footage.entries("before"):
        box = (entry.data.get("target") or {}).get("box")
        if not box or min(box[:2]) < 8 or box[0] + box[2] > width - 8 or box[1] + box[3] > height - 8:
            continue
        count += 1
        at = video.at(entry.t)
        near = [image for ms, end, image in frames if ms <= at + 100 and end >= at - 100]
        if not any(ringed(image, box) for image in near):
            missing.append((entry["call"], entry["action"]["type"], round(at), box))
    return missing, count
