"""A browser session as a video: a render of the recording, made at any time, and again with other options."""

from reenact.browser.video.captions import Chapter
from reenact.browser.video.made import Video
from reenact.browser.video.render import means, one_of, render

__all__ = ["Chapter", "Video", "means", "one_of", "render"]
