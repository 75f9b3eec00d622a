"""Functions of `eyes.js` run with one element: loaded once into each document, seen by no page."""

from __future__ import annotations

import pytest
from playwright.async_api import Error

from reenact.browser.page.element_functions import in_document, of_element
from reenact.browser.page.guard import PressGuard

pytestmark = pytest.mark.asyncio(loop_scope="session")
NAME = "eyes.nameOf(el)"


async def test_the_functions_are_loaded_once_and_anew_after_a_page_load(page):
    await page.set_content("<button>One</button>")
    name, first = await in_document(page.locator("button"), NAME)
    again, same = await in_document(page.locator("button"), NAME)
    assert (name, again) == ("One", "One")
    assert same is first
    await page.goto("data:text/html,<button>Two</button>")
    name, other = await in_document(page.locator("button"), NAME)
    assert name == "Two"
    assert other is not first


async def test_an_element_is_waited_for_and_a_second_one_refused(page):
    await page.set_content("<p></p>")
    with pytest.raises(Error, match="Timeout"):
        await of_element(page.locator("button"), NAME, timeout=50)
    await page.evaluate(
        "() => setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button>Late</button>'), 200)"
    )
    assert await of_element(page.locator("button"), NAME, timeout=60_000) == "Late"
    await page.set_content("<button>One</button><button>Two</button>")
    with pytest.raises(Error, match="strict mode"):
        await of_element(page.locator("button"), NAME)


async def test_an_element_in_a_frame_and_one_beside_it_are_read_in_their_own_documents(page):
    await page.set_content("<button>Outside</button><iframe srcdoc='<button>Inside</button>'></iframe>")
    inside = page.frame_locator("iframe").locator("button")
    name, within = await in_document(inside, NAME, timeout=60_000)
    assert name == "Inside"
    name, beside = await in_document(page.locator("button"), NAME)
    assert name == "Outside"
    assert within is not beside


async def test_an_element_handle_is_read_as_a_locator_is(page):
    await page.set_content("<button>One</button>")
    handle = await page.locator("button").element_handle()
    assert await of_element(handle, NAME) == "One"
    await page.evaluate("() => document.querySelector('button').remove()")
    assert await of_element(handle, "el.isConnected") is False


async def test_an_error_of_the_page_is_the_callers(page):
    await page.set_content("<button>One</button>")
    for _ in range(2):
        with pytest.raises(Error, match="of this page"):
            await of_element(page.locator("button"), "(() => { throw new Error('of this page') })()")


async def test_the_page_sees_none_of_the_functions(page):
    await page.set_content("<button>One</button>")
    known = "() => Object.getOwnPropertyNames(window).sort()"
    before = await page.evaluate(known)
    await of_element(page.locator("button"), NAME)
    guard = PressGuard(stops=True)
    await guard.arm(page.locator("button"), [], None, 60_000)
    assert await page.evaluate(known) == before
    await guard.read()


async def test_two_guards_of_one_document_are_read_apart(page):
    await page.set_content("<button id=a>One</button><button id=b>Two</button>")
    first, second = PressGuard(stops=False), PressGuard(stops=False)
    await first.arm(page.locator("#a"), [], None, 60_000)
    await second.arm(page.locator("#b"), [], None, 60_000)
    await page.locator("#b").click()
    assert (await second.read()).clicked == 1
    seen = await first.read()
    assert (seen.clicked, seen.beside > 0) == (0, True)
    assert await first.read() is None


async def test_a_guard_of_a_page_that_is_gone_saw_nothing(page):
    await page.set_content("<button>One</button>")
    guard = PressGuard(stops=True)
    await guard.arm(page.locator("button"), [], None, 60_000)
    await page.goto("data:text/html,<button>Two</button>")
    assert await guard.read() is None
