import pytest

from tests.browser.sketching import Filming


@pytest.fixture
def filming(tmp_path):
    """A session of 640 by 360 pixels in a recording's folder, to be written line by line."""
    return Filming(tmp_path / "recording")
