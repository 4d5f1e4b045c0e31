import json

import kernel
from kernel import Kernel

client = Kernel()  # finds its key and its server by itself
app = kernel.App("APP_NAME")


@app.action("hello")
async def hello(context, payload=None):
    """Opens a page in a session of its own, and answers with its title. The session ends with the invocation."""
    url = (payload or {}).get("url", "https://example.com")
    session = client.browsers.create(invocation_id=context.invocation_id, headless=True)
    print(f"session {session.session_id} opens {url}")
    done = client.browsers.playwright.execute(
        session.session_id,
        code=f"await page.goto({json.dumps(url)}); return page.title()",
    )
    if not done.success:
        raise RuntimeError(done.error)
    return {"url": url, "title": done.result}
