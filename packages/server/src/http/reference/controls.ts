import { MAX_SPOOL_BYTES } from '@berth/contracts/processes'
import { html } from './html.ts'
import type { GuideSection } from './section.ts'

export const controlsSection: GuideSection = {
  id: 'controls',
  title: 'Controls',
  text: html`<p>
      What an agent does to its machine besides CDP is below <code>/browsers/{id}</code>: mouse, keyboard,
      screen and clipboard (<code>computer</code>), files (<code>fs</code>), programs and terminals
      (<code>process</code>), Playwright code that runs next to the browser (<code>playwright</code>),
      requests by the browser's own network stack (<code>curl</code>) and logs (<code>logs</code>). Each is
      also below the session's <code>base_url</code>, with the token of its <code>cdp_ws_url</code> as
      <code>?jwt=</code> instead of a key.
    </p>
    <p>
      A call wakes the session and is use of it; so is a program that was spawned, until it ends. Actions of
      mouse and keyboard are done one after another, in the order they came, and those of a batch with nothing
      between them. Coordinates are those of the whole screen; a headless browser has a screen, too, which
      <code>screenshot</code> shows.
    </p>
    <p>
      The only user of an instance is <code>kernel</code>, its home is <code>/home/kernel</code>. With
      <code>as_root</code> a program is root of a user namespace of its own: it may do what the user may do,
      and no more, but thinks otherwise. Programs reach the network by <code>http_proxy</code> and
      <code>https_proxy</code>, which are set.
    </p>
    <p>
      What a program writes is kept to a bound of ${String(MAX_SPOOL_BYTES / 1024 / 1024)} MB, and any number
      of readers get all of it from the start of what is kept; where something was dropped, an event says how
      much. A terminal (<code>allocate_tty</code>) is also a websocket,
      <code>/process/{id}/attach</code> below <code>base_url</code>: binary messages are what is typed and
      shown.
    </p>`,
  samples: [
    {
      caption: 'Mouse and keyboard',
      code: `const id = session.session_id
await client.browsers.computer.clickMouse(id, { x: 300, y: 200 })
await client.browsers.computer.typeText(id, { text: 'Ahoi, 世界 👋' })
const picture = await client.browsers.computer.captureScreenshot(id)`,
    },
    {
      caption: 'Files and programs',
      code: `await client.browsers.fs.writeFile(id, 'hello', { path: '/home/kernel/a.txt' })
const { exit_code, stdout_b64 } = await client.browsers.process.exec(id, {
  command: 'wc', args: ['-c', '/home/kernel/a.txt'],
})`,
    },
    {
      caption: 'Playwright, inside',
      code: `const { result } = await client.browsers.playwright.execute(id, {
  code: 'await page.goto("https://example.com"); return page.title()',
})`,
    },
  ],
}
