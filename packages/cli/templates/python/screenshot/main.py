import json

import kernel
from kernel import Kernel

client = Kernel()  # finds its key and its server by itself
app = kernel.App("APP_NAME")


@app.action("screenshot")
async def screenshot(context, payload=None):
    """Takes a picture of a page, and answers with it as base64."""
    payload = payload or {}
    url = payload.get("url", "https://example.com")
    full_page = json.dumps(bool(payload.get("fullPage", False)))
    session = client.browsers.create(
        invocation_id=context.invocation_id,
        headless=True,
        viewport={"width": 1280, "height": 800},
    )
    done = client.browsers.playwright.execute(
        session.session_id,
        code=f"""
            await page.goto({json.dumps(url)})
            const picture = await page.screenshot({{ type: 'jpeg', quality: 80, fullPage: {full_page} }})
            return picture.toString('base64')""",
    )
    if not done.success:
        raise RuntimeError(done.error)
    print(f"took a picture of {url} with {len(done.result) * 3 // 4} bytes")
    return {"url": url, "jpeg": done.result}
