"""Fixed answers of the server for the pictures of the console: trends, jobs and heals, whose times and ids differ from run to run."""

TRENDS = {
    "by": "day",
    "buckets": [
        {"at": f"2026-11-{day:02}T00:00:00+00:00", "recordings": day % 5 + 1, "failed": day % 3 // 2,
         "tokens": day * 100, "cost": day / 1000, "p50": day / 4, "p95": day / 2}
        for day in range(1, 21)
    ],
    "complete": True,
}  # fmt: skip
JOB = {
    "id": "repro00001",
    "kind": "reproduce",
    "title": "Reproduce",
    "recordings": ["support0001"],
    "status": "done",
    "progress": {"done": 3, "total": 3, "label": ""},
    "result": {
        "recording": "support0001",
        "result": "reproduced",
        "where": "step 9: ConnectionError: smtp.example.org refused the connection",
        "attempts": [{"failed": "", "exit": 1, "seconds": took, "verdict": None} for took in (0.4, 0.5, 0.4)],
    },
    "error": None,
    "files": [{"name": "report.html", "url": "/files/report.html"}],
    "created": "2026-11-20T13:00:00+00:00",
    "began": "2026-11-20T13:00:00+00:00",
    "ended": "2026-11-20T13:00:02+00:00",
}
LAST = {"recording": "support0001", "step": 7, "started": "2026-11-20T12:01:00+00:00"}
HEALS = {
    "items": [
        {"key": key, "file": "/home/ada/shop.py", "line": line, "function": "buy", "action": "click", "selector": selector,
         "ran": 3, "helped": helped, "rungs": rungs, "state": state, "verified": state == "verified",
         "runs_since": 0, "last": LAST}
        for key, line, selector, helped, rungs, state in (
            ("a", 12, "#buy", 2, {"memory": 2}, "verified"),
            ("b", 10, "#voucher", 1, {"dismiss": 1}, "unverified"),
            ("c", 14, "text=Receipt", 1, {}, "failed"),
        )
    ]
}  # fmt: skip
PATCH = {
    "file": "/home/ada/shop.py",
    "patch": '--- /home/ada/shop.py\n+++ /home/ada/shop.py\n@@ -11,3 +11,3 @@\n     page.fill("#name", "Ada")\n'
    '-    page.click("#buy")\n+    page.click("#buy-17")\n     page.close()\n',
    "readable": True,
    "mark": "1",
    "refusal": None,
}
ANSWERS = {
    "**/recordings/trends?*": TRENDS,
    "**/api/v1/jobs": {"items": [JOB | {"result": None}]},
    f"**/api/v1/jobs/{JOB['id']}": JOB,
    "**/api/v1/heals": HEALS,
    "**/api/v1/heals/patch?*": PATCH,
}
"""The body of the answer to each address."""
