import json

import kernel
from kernel import Kernel

client = Kernel()  # finds its key and its server by itself
app = kernel.App("APP_NAME")


@app.action("check")
async def check(context, payload=None):
    """Opens a page in a profile that Berth keeps logged in.

    Without a connection it makes one, and answers with the address where a person logs in once; a stored credential
    makes even that unnecessary.
    """
    payload = payload or {}
    domain, url = payload.get("domain"), payload.get("url")
    if not domain or not url:
        raise ValueError("The payload needs a domain and a url")
    profile = payload.get("profile", "APP_NAME")
    known = client.auth.connections.list(domain=domain, profile_name=profile).items
    connection = known[0] if known else client.auth.connections.create(domain=domain, profile_name=profile)
    if connection.status != "AUTHENTICATED":
        login = client.auth.connections.login(connection.id)
        print(f"{domain} needs a login")
        return {"loggedIn": False, "connection": connection.id, "logInHere": login.hosted_url}
    session = client.browsers.create(
        invocation_id=context.invocation_id,
        headless=True,
        profile={"name": profile},
    )
    done = client.browsers.playwright.execute(
        session.session_id,
        code=f"await page.goto({json.dumps(url)}); return {{ url: page.url(), title: await page.title() }}",
    )
    if not done.success:
        raise RuntimeError(done.error)
    return {"loggedIn": True, "connection": connection.id, "page": done.result}
