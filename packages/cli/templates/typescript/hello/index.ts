import Kernel, { type KernelContext } from '@onkernel/sdk'

const kernel = new Kernel() // finds its key and its server by itself
const app = kernel.app('APP_NAME')

interface Input {
  url?: string
}

/** Opens a page in a session of its own, and answers with its title. The session ends with the invocation. */
app.action('hello', async ({ invocation_id }: KernelContext, payload?: Input) => {
  const { url = 'https://example.com' } = payload ?? {}
  const session = await kernel.browsers.create({ invocation_id, headless: true })
  console.log(`session ${session.session_id} opens ${url}`)
  const { success, result, error } = await kernel.browsers.playwright.execute(session.session_id, {
    code: `await page.goto(${JSON.stringify(url)}); return page.title()`,
  })
  if (!success) throw new Error(error)
  return { url, title: result }
})
