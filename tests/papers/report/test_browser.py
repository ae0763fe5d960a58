"""The page in a real browser: whole, silent, readable in light and dark, by phone and keyboard."""

import pytest

from papers.report.collect import PAPERS
from tests.papers.report.browser import PROGRAM, Browser

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="there is no Chromium here; its package is called chromium"
)

DESKTOP, PHONE = 1280, 390
TAB, ENTER = 9, 13
WRONG = {
    "Log.entryAdded",
    "Network.loadingFailed",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
}

# Text whose contrast with what lies behind it is below what WCAG 2 asks for (level AA).
FAINT = """
(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const opaque = (colour) => colour.startsWith("rgb(");
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (opaque(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const under = (text) => {  // a bar below a number
    text.scrollIntoView({block: "center", inline: "center"});
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    for (const element of document.elementsFromPoint(x, y)) {
      const fill = getComputedStyle(element).fill;
      if (element.tagName === "path" && opaque(fill)) return fill;
    }
    return behind(text.closest("svg").parentElement);
  };
  const faint = [];
  let seen = 0;
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest(".skip")) continue;
    const style = getComputedStyle(element);
    const drawn = element instanceof SVGElement;
    const found = ratio(drawn ? style.fill : style.color, drawn ? under(element) : behind(element));
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    seen += 1;
    if (found < (size >= 24 || (bold && size >= 18.66) ? 3 : 4.5))
      faint.push(`${element.textContent.trim().slice(0, 40)}: ${found.toFixed(2)}`);
  }
  return {seen, faint, ground: getComputedStyle(document.body).backgroundColor};
})()
"""

# Text of drawings that is cut off at their edge.
CUT = """
[...document.querySelectorAll("figure svg")].flatMap((svg) => {
  const all = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < all.left - 3 || box.right > all.right + 3 ||
      box.top < all.top - 3 || box.bottom > all.bottom + 3;
  }).map((text) => `${svg.getAttribute("aria-label").slice(0, 30)}: ${text.textContent}`);
})
"""

SIZES = """
Object.fromEntries([...document.querySelectorAll("section, article, figure svg")].map(
  (each, k) => {
    const box = each.getBoundingClientRect();
    return [`${each.tagName} ${each.id || k}`, [box.width, box.height, each.checkVisibility()]];
  }))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    one = Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.fixture
def shown(browser, page):
    browser.see(DESKTOP)
    browser.open(page.report.file)
    return browser


def wrong(browser: Browser) -> list[str]:
    return [event["method"] for event in browser.events if event.get("method") in WRONG]


def test_it_loads_without_a_complaint_and_asks_for_nothing_else(shown, page):
    assert shown.run("document.readyState") == "complete"
    assert wrong(shown) == []
    asked = [
        event["params"]["request"]["url"]
        for event in shown.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [
        page.report.file.resolve().as_uri()
    ]


def test_a_page_that_asks_for_more_would_be_found_out(browser, tmp_path):
    file = tmp_path / "asks.html"
    file.write_text('<img src="nothing.png"><script>console.error("oh")</script>')
    browser.open(file)
    assert {"Network.loadingFailed", "Runtime.consoleAPICalled"} <= set(wrong(browser))


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_section_and_figure_is_there_and_can_be_seen(shown, page, width):
    shown.see(width)
    sizes = shown.run(SIZES)
    assert {f"SECTION {paper.anchor}" for paper in PAPERS} <= set(sizes)
    assert "SECTION summary" in sizes
    assert sum(name.startswith("svg ") for name in sizes) == page.report.figures
    assert [name for name, (wide, high, seen) in sizes.items() if not seen or high < 50] == []
    assert [name for name, (wide, high, seen) in sizes.items() if wide < 250] == []


def test_nothing_that_is_written_in_a_figure_is_cut_off(shown):
    assert shown.run("document.querySelectorAll('figure svg text').length") > 100
    assert shown.run(CUT) == []


def test_figures_tables_and_landmarks_have_names(shown, page):
    labels = shown.run(
        "[...document.querySelectorAll('[role=img]')].map(e => e.getAttribute('aria-label'))"
    )
    assert len(set(labels)) == len(labels) == page.report.figures
    assert all(len(label) > 80 for label in labels)
    nameless = "[...document.querySelectorAll('[role=region], nav')].filter(e => !e.ariaLabel)"
    assert shown.run(f"{nameless}.length") == 0
    assert shown.run("document.querySelectorAll('main, header, nav').length") == 3
    bare = "[...document.querySelectorAll('th')].filter(e => !e.scope)"
    assert shown.run(f"{bare}.length") == 0
    assert shown.run("document.documentElement.lang") == "en"
    assert shown.run("document.title")


def focused(browser: Browser) -> dict[str, object]:
    return browser.run(
        "(() => { const e = document.activeElement, s = getComputedStyle(e),"
        " b = e.getBoundingClientRect(); return {text: e.textContent.trim().slice(0, 60),"
        " left: b.left, width: b.width, outline: s.outlineStyle, thick: parseFloat(s.outlineWidth),"
        " inside: Boolean(e.closest('main')), tag: e.tagName}; })()"
    )


def test_the_keyboard_reaches_the_way_to_the_summary_first_and_it_can_be_seen(shown):
    shown.press("Tab", TAB)
    first = focused(shown)
    assert first["text"] == "Skip to the summary"
    assert first["left"] >= 0
    assert (first["outline"], first["thick"] >= 2) == ("solid", True)
    shown.press("Enter", ENTER)
    shown.press("Tab", TAB)
    second = focused(shown)
    assert second["inside"]
    assert (second["outline"], second["thick"] >= 2) == ("solid", True)


def test_the_keyboard_reaches_every_paper_in_the_contents_and_unfolds_what_is_folded(shown):
    shown.press("Tab", TAB)
    seen = []
    for _ in range(30):
        shown.press("Tab", TAB)
        now = focused(shown)
        if now["inside"]:
            break
        seen.append(now["text"])
    assert next(text for text in seen if not any(p.authors in text for p in PAPERS)) == "Summary"
    assert all(any(text.startswith(paper.authors) for text in seen) for paper in PAPERS)
    shown.run("document.querySelector('details:not([open]) > summary').focus()")
    shown.press("Enter", ENTER)
    assert shown.run("document.activeElement.parentElement.open") is True


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_scrolls_wide_tables_in_their_boxes_and_never_the_page(shown, dark):
    shown.see(PHONE, dark=dark)
    shown.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert shown.run("document.documentElement.scrollWidth") <= PHONE
    boxes = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
    assert shown.run(f"{boxes}.length") > 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_stands_out_from_what_is_behind_it(shown, dark):
    shown.see(DESKTOP, dark=dark)
    shown.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    found = shown.run(FAINT)
    assert found["seen"] > 300
    assert found["faint"] == []
    assert found["ground"] == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")


def test_faint_text_would_be_found_out(shown):
    shown.run("document.querySelector('h2').style.color = 'rgb(190, 190, 190)'")
    assert any(text.startswith("Summary") for text in shown.run(FAINT)["faint"])
