"""Render a browser session's recording as a video, at any time and with any options."""

from reenact.browser.video.captions import Chapter
from reenact.browser.video.finished_video import Video
from reenact.browser.video.render import means, one_of, render

__all__ = ["Chapter", "Video", "means", "one_of", "render"]
