"""The recorded form of a page state: plain fields, picture bytes, an element tree.

    {"url": "http://...", "title": "Shop", "text": "[7]<button />", "screenshot": <png>, "dom": <tree>, "focus": ...}

`text` is for people, searches and comparisons; a replay rebuilds the page from `dom`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from browser_use.browser.views import BrowserStateSummary
from browser_use.dom import views
from browser_use.dom.views import SerializedDOMState

from reenact.adapters.browser_use import picture, tree
from reenact.core.store.writer import warn
from reenact.errors import RecordingError

_APART = ("dom_state", "screenshot")


class PageStateWire:
    """The wire of a page's state.

    Args:
        session: The session of the state; its newest state is used to find elements.
        stand: Called in a replay with the page's address and the tab that has the focus.
    """

    def __init__(self, session: Any, stand: Any) -> None:
        self._session = session
        self._stand = stand

    def dump(self, value: Any, /) -> Any:
        """The state's fields."""
        dom = value.dom_state
        # The fields that people look for come first.
        kept = {"url": value.url, "title": value.title, "text": dom.llm_representation()}
        kept["screenshot"] = picture.kept(value.screenshot)
        kept |= {
            field.name: getattr(value, field.name)
            for field in dataclasses.fields(value)
            if field.name not in _APART and getattr(value, field.name) != _default(field)
        }
        kept["focus"] = self._session.agent_focus_target_id
        try:
            kept["dom"], kept["words"] = tree.pack({"root": dom._root, "selectors": dom.selector_map}, views)
        except (TypeError, AttributeError) as error:
            warn(f"the page {value.url} is not kept ({error}): a replay stops here")
        return kept

    def load(self, value: Any, /) -> Any:
        """Rebuild the state, and set the session as the recorded call left it."""
        if "dom" not in value:
            raise RecordingError(
                f"the page {value.get('url')} was not kept; a warning said so during the recording"
            )
        dom = tree.unpack(value["dom"], value["words"], views)
        known = {field.name for field in dataclasses.fields(BrowserStateSummary)}
        fields = {name: item for name, item in value.items() if name in known}
        fields["screenshot"] = picture.shown(value["screenshot"])
        state = SerializedDOMState(_root=dom["root"], selector_map=dom["selectors"])
        summary = BrowserStateSummary(dom_state=state, **fields)
        session = self._session
        session._cached_browser_state_summary = summary
        session.update_cached_selector_map(state.selector_map)
        self._stand(summary.url, value["focus"])
        return summary


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
