import json
from urllib.parse import urlsplit

import kernel
from kernel import Kernel

client = Kernel()  # finds its key and its server by itself
app = kernel.App("APP_NAME")

TABS = 4
MAX_PAGES = 100


@app.action("crawl")
async def crawl(context, payload=None):
    """Follows the links of a site, several pages at once, and answers with their titles."""
    payload = payload or {}
    url = payload.get("url", "https://example.com")
    most = min(int(payload.get("limit", 10)), MAX_PAGES)
    site = urlsplit(url)
    session = client.browsers.create(invocation_id=context.invocation_id, headless=True)
    seen, todo, pages = {url}, [url], []
    while todo and len(pages) < most:
        count = min(TABS, most - len(pages))
        batch, todo = todo[:count], todo[count:]
        for page in read(session.session_id, batch):
            pages.append({"url": page["url"], "title": page["title"]})
            print(len(pages), page["url"])
            for link in page["links"]:
                if not link.startswith(f"{site.scheme}://{site.netloc}/") or link in seen:
                    continue
                seen.add(link)
                todo.append(link)
    return {"pages": pages}


def read(session_id, urls):
    """Every page in a tab of its own. What cannot be opened has no links."""
    done = client.browsers.playwright.execute(
        session_id,
        code="""
            return Promise.all(URLS.map(async (url) => {
              const tab = await context.newPage()
              try {
                await tab.goto(url, { waitUntil: 'domcontentloaded', timeout: 30_000 })
                const links = await tab.$$eval('a[href]', (all) => all.map((each) => each.href.split('#')[0]))
                return { url, title: await tab.title(), links }
              } catch (failure) {
                return { url, title: String(failure).split('\\n')[0], links: [] }
              } finally {
                await tab.close()
              }
            }))""".replace("URLS", json.dumps(urls)),
        timeout_sec=120,
    )
    if not done.success:
        raise RuntimeError(done.error)
    return done.result
