"""The commands of the browser's protocol that a client may give to a server's browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.browser.isolation.addresses import check_scheme
from reenact.browser.isolation.pipe import ProtocolClient

_REFUSED = frozenset({
    # They end the session's browser, or reveal facts about its machine.
    "Browser.close", "Browser.crash", "Browser.crashGpuProcess", "Browser.executeBrowserCommand",
    "Browser.getBrowserCommandLine", "Browser.getHistogram", "Browser.getHistograms", "Page.crash",
    # They write files.
    "Page.setDownloadBehavior", "Tracing.start",
    # They contain other commands, which would not be checked, or open other ways to the browser.
    "Target.sendMessageToTarget", "Target.exposeDevToolsProtocol", "Target.setRemoteLocations", "Target.openDevTools",
})  # fmt: skip
_REFUSED_DOMAINS = frozenset(
    {"SystemInfo", "PWA", "Cast", "DeviceAccess", "Extensions", "FileSystem", "Tethering"}
)
_OPENING = frozenset({"Page.navigate", "Target.createTarget", "Network.loadNetworkResource"})
_PROXY = ("proxyServer", "proxyBypassList", "originsWithUniversalNetworkAccess")


def check(client: ProtocolClient, method: str, params: dict[str, Any]) -> Mapping[str, Any] | None:
    """Refuse a forbidden command of a client. The browser's sandbox is the second barrier.

    Returns:
        None if the command is passed on, else its answer.

    Raises:
        ValueError: The command is forbidden.
    """
    if method in _REFUSED or method.partition(".")[0] in _REFUSED_DOMAINS:
        raise ValueError(f"{method} cannot be used by clients of a server")
    if method in _OPENING and params.get("url"):
        check_scheme(str(params["url"]))
    if method == "Browser.setDownloadBehavior":
        if params.get("browserContextId") not in client.contexts:
            # Playwright sends it when it connects. It is answered but not done: the session has its own downloads.
            return {}
        params.pop("downloadPath", None)
        params["behavior"] = "deny"
    if method == "DOM.setFileInputFiles" and params.get("files"):
        raise ValueError("DOM.setFileInputFiles cannot be used by clients of a server: use upload_file")
    data = params.get("data")
    if method == "Input.dispatchDragEvent" and not (isinstance(data, Mapping) and not data.get("files")):
        raise ValueError("Input.dispatchDragEvent cannot name files for clients of a server: use drop")
    if method == "Target.createBrowserContext" and any(params.get(name) for name in _PROXY):
        raise ValueError("a proxy cannot be set by clients of a server")
    if method == "Target.disposeBrowserContext" and params.get("browserContextId") not in client.contexts:
        raise ValueError("Target.disposeBrowserContext: that context is the session's own")
    if method in ("Target.attachToTarget", "Target.setAutoAttach", "Target.autoAttachRelated"):
        # Otherwise the session's messages would come nested in other messages.
        params["flatten"] = True
    return None
