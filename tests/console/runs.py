"""Runs for the console to show: one of a day's work, one of ten thousand steps, one whose content is hostile."""

from __future__ import annotations

import asyncio
import itertools
from contextvars import ContextVar

import reenact

HOSTILE = (
    "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>"
    "<a href='javascript:window.harmed=3'>click</a> javascript:window.harmed=4 \u202egnp.exe\u202c "
    "https://evil.example/steal?x=1 </textarea></pre><style>body{display:none}</style>"
)


def _usage(asked, said):
    return {
        "prompt_tokens": sum(len(str(one)) for one in asked) // 4,
        "completion_tokens": len(str(said)) // 4,
    }


@reenact.tool(kind="model", name="gpt-4o")
async def ask(messages, model="gpt-4o", temperature=0.0):
    await asyncio.sleep(0.002)
    said = next(_SAID)
    message = {"role": "assistant", "content": said if isinstance(said, str) else None}
    if not isinstance(said, str):
        message["tool_calls"] = [
            {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": args}}
            for place, (name, args) in enumerate(said)
        ]
    return {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": _usage(messages, said),
        "model": model,
    }


_SAID = itertools.cycle(
    [
        [("get_order", '{"order_id": "ORD-5521"}'), ("get_customer", '{"email": "mara@example.org"}')],
        [("cancel_order", '{"order_id": "ORD-5521", "reason": "changed her mind"}')],
        "I have cancelled ORD-5521. The refund of 86.40 EUR is on its way and takes three days.",
        [("send_mail", '{"to": "mara@example.org"}')],
        "Done: Mara has her mail.",
    ]
)


FOUND: ContextVar[asyncio.Event] = ContextVar("FOUND")
"""The order is found: the customer is found after it, on a busy machine too."""


@reenact.tool
async def get_order(order_id):
    await asyncio.sleep(0.004)
    row = await reenact.effect("db", "orders", sql="SELECT * FROM orders WHERE id = ?", id=order_id).aperform(
        lambda: _later(
            {"id": order_id, "status": "paid", "total": 86.4, "items": [{"sku": "lamp", "many": 2}]}
        )
    )
    FOUND.get().set()
    return row


@reenact.tool
async def get_customer(email):
    await FOUND.get().wait()
    return {"email": email, "name": "Mara", "since": "2024-03-01"}


@reenact.tool
async def cancel_order(order_id, reason):
    await asyncio.sleep(0.003)
    return {"cancelled": order_id}


@reenact.tool
async def send_mail(to):
    raise ConnectionError("smtp.example.org refused the connection")


async def _later(value):
    await asyncio.sleep(0.002)
    return value


def support(total=86.4):
    """A customer who changes her mind: tools side by side, nested effects, state, one failure."""

    async def run():
        cart = reenact.track("case", {"open": True, "notes": [], "total": total}, every=1)
        system = "You help the customers of a lamp shop.\nBe kind, be brief.\nNever cancel what was shipped."
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": "Please cancel my order ORD-5521, I have changed my mind."},
        ]
        await ask(messages)
        FOUND.set(asyncio.Event())
        found = await asyncio.gather(get_order("ORD-5521"), get_customer("mara@example.org"))
        messages += [
            {"role": "tool", "tool_call_id": f"call_{n}", "content": str(one)} for n, one in enumerate(found)
        ]
        cart["notes"].append("found the order")
        await ask(messages)
        await cancel_order("ORD-5521", "changed her mind")
        cart.update(open=False, total=0)
        messages.append({"role": "tool", "tool_call_id": "call_0", "content": "cancelled"})
        messages[0] = {"role": "system", "content": system.replace("be brief", "be brief and exact")}
        await ask(messages)
        await ask([*messages, {"role": "user", "content": "Please send me a mail."}])
        try:
            await send_mail("mara@example.org")
        except ConnectionError:
            pass
        await ask([*messages, {"role": "user", "content": "Please send me a mail, again."}])

    asyncio.run(run())


def long(steps):
    """Many steps, as of an agent that never ends."""
    look = reenact.tool(lambda page: f"page {page} says nothing new", name="look")
    for page in range(steps):
        look(page)


def hostile():
    """What a page or a tool may say to harm whoever reads it."""
    echo = reenact.tool(lambda text: text, name="<b>echo</b>")
    echo(HOSTILE)
    echo("x" * 400_000)
    echo({HOSTILE: [HOSTILE] * 3, "__proto__": {"harmed": 5}, "long": "y" * 5000})
    reenact.tool(_harm, kind="model", name="gpt-4o")(
        [{"role": "system", "content": HOSTILE}, {"role": "user", "content": "\u202e" + HOSTILE}]
    )
    reenact.track(HOSTILE, {"k": HOSTILE})
    try:
        reenact.tool(_refuse, name="refuse")()
    except ValueError:
        pass


def _harm(messages):
    return {"role": "assistant", "content": HOSTILE}


def _refuse():
    raise ValueError(HOSTILE)
