import Kernel, { type KernelContext } from '@onkernel/sdk'

const kernel = new Kernel() // finds its key and its server by itself
const app = kernel.app('APP_NAME')

interface Input {
  url?: string
  fullPage?: boolean
}

/** Takes a picture of a page, and answers with it as base64. */
app.action('screenshot', async ({ invocation_id }: KernelContext, payload?: Input) => {
  const { url = 'https://example.com', fullPage = false } = payload ?? {}
  const session = await kernel.browsers.create({
    invocation_id,
    headless: true,
    viewport: { width: 1280, height: 800 },
  })
  const { success, result, error } = await kernel.browsers.playwright.execute(session.session_id, {
    code: `
      await page.goto(${JSON.stringify(url)})
      const picture = await page.screenshot({ type: 'jpeg', quality: 80, fullPage: ${fullPage} })
      return picture.toString('base64')`,
  })
  if (!success) throw new Error(error)
  const jpeg = result as string
  console.log(`took a picture of ${url} with ${Math.round((jpeg.length * 3) / 4)} bytes`)
  return { url, jpeg }
})
