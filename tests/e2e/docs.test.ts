// The documentation at /docs in a real browser: the API reference, and the guide made from docs/*.md.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { openApiDocument } from '@berth/contracts/openapi'
import { operations } from '@berth/contracts/operations'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'

const docs = join(import.meta.dirname, '../../docs')
const pictures = process.env['DOCS_PICTURES']
const phone = { width: 390, height: 844 }
const desktop = { width: 1280, height: 800 }

const server = await startServer({ after })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
after(() => browser.close())

interface Opened {
  readonly page: Page
  /** Errors, refusals of the page's policy, and requests to any other server. Must stay empty. */
  readonly problems: string[]
}

async function open(
  path: string,
  options: Parameters<typeof browser.newContext>[0] = { viewport: desktop },
): Promise<Opened> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(`${server.url}/`) || /^(data|blob):/.test(request.url())
    if (!isOurs) problems.push(`asked ${request.url()}`)
  })
  await page.goto(server.url + path)
  return { page, problems }
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `docs-${name}.png`) })
}

const hrefsOf = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((links) => links.map((link) => (link as { hash: string }).hash))

const tagAnchor = (tag: string) => `#tag/${tag.toLowerCase().replaceAll(' ', '-')}`

test('the reference lists every operation', async () => {
  const { page, problems } = await open('/docs')
  await page.locator('a[href="#tag/browsers/POST/browsers"]').first().waitFor()
  await picture(page, 'reference')
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  for (const tag of tags) {
    const closed = page.getByRole('button', { name: `Open Group - ${tag}`, exact: true })
    if ((await closed.count()) > 0) await closed.first().click()
  }
  const wanted = operations.map(({ tag, method, path }) => `${tagAnchor(tag)}/${method}${path}`)
  let missing: string[] = []
  await eventually('every operation is in the menu', async () => {
    const shown = new Set((await hrefsOf(page, 'a[href^="#tag/"]')).map(decodeURIComponent))
    missing = wanted.filter((anchor) => !shown.has(anchor))
    return missing.length === 0
  }).catch(() => assert.deepEqual(missing, []))
  assert.deepEqual(problems, [])
  await page.context().close()
})

test('the reference loads the document of the contract, which names every path of an operation', async () => {
  const served = await (await server.fetch('/openapi.json', { key: null })).text()
  assert.equal(served, JSON.stringify(openApiDocument(operations)))
  const { paths } = JSON.parse(served) as { paths: Record<string, Record<string, { description?: string }>> }
  for (const { id, path, method, aliases = [] } of operations) {
    const { description = '' } = paths[path]![method.toLowerCase()]!
    for (const alias of aliases) assert.ok(description.includes(`\`${alias}\``), `${id} names ${alias}`)
  }
})

test('the reference finds an operation and sends its request with a key, but does not store the key', async () => {
  const { page, problems } = await open('/docs')
  await page.getByPlaceholder('Token').first().fill(server.key)
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click()
  await page.keyboard.type('list projects')
  await page.getByRole('option', { name: /List projects.*\/org\/projects/s }).click()
  await page.waitForURL((url) => url.hash === '#tag/projects/GET/org/projects')
  await page.getByRole('button', { name: /Test Request\W*get \/org\/projects\)/i }).click()
  const [answer] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname === '/org/projects'),
    page.getByRole('button', { name: /^Send/ }).first().click(),
  ])
  assert.equal(answer.status(), 200)
  assert.ok(answer.url().startsWith(`${server.url}/`))
  await page.getByText('200 OK').first().waitFor()
  await page.getByText('"Default"').first().waitFor()
  await picture(page, 'sent')
  const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
  assert.ok(!(kept as string).includes(server.key))
  assert.deepEqual(problems, [])
  await page.context().close()
})

test('text of the contract cannot run in the reference', async () => {
  const evil =
    '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>[x](javascript:window.ran=1)'
  const context = await browser.newContext({ viewport: desktop })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.route('**/openapi.json', (route) =>
    route.fulfill({
      json: {
        openapi: '3.1.0',
        info: { title: `Evil ${evil}`, version: '1', description: evil },
        paths: { '/evil': { get: { summary: `Summary ${evil}`, description: evil, responses: {} } } },
      },
    }),
  )
  await page.goto(`${server.url}/docs`)
  await page.getByText('Summary').first().waitFor()
  assert.equal(await page.locator('script:not([src])').count(), 0)
  assert.equal(await page.locator('[onerror], a[href^="javascript:"]').count(), 0)
  assert.equal(await page.evaluate('window.ran'), undefined)
  await context.close()
})

async function read(path: string): Promise<{ status: number; text: string }> {
  const answer = await server.fetch(path, { key: null })
  return { status: answer.status, text: await answer.text() }
}

const guideNames = globSync('**/*.md', { cwd: docs }).toSorted()
const guideUrl = (name: string) => `/docs/guide/${name.replace(/(\/README)?\.md$/, '')}`

test('every page of docs/ is shown, and none of its links is broken', async () => {
  const urls = ['/docs/guide', ...guideNames.map(guideUrl)]
  const pages = new Map<string, string>()
  for (const url of urls) {
    const { status, text } = await read(url)
    assert.equal(status, 200, url)
    pages.set(url, text)
  }
  const broken: string[] = []
  const files = new Set<string>()
  for (const [url, text] of pages) {
    for (const [, target] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
      const { origin, pathname, hash, protocol } = new URL(target!.replaceAll('&amp;', '&'), server.url + url)
      if (protocol === 'data:') continue
      if (origin !== server.url) {
        if (!/^https?:$/.test(protocol)) broken.push(`${url}: ${target}`)
      } else if (pages.has(pathname)) {
        const id = decodeURIComponent(hash.slice(1))
        if (id !== '' && !pages.get(pathname)!.includes(`id="${id}"`)) broken.push(`${url}: ${target}`)
      } else files.add(pathname)
    }
    assert.doesNotMatch(text, /<script|<style|<!--|<[^>]*\s(style|on\w+)=/i, url)
  }
  for (const path of files) if ((await read(path)).status !== 200) broken.push(path)
  assert.deepEqual(broken, [])
  const overview = pages.get('/docs/guide')!
  const listed = guideNames.filter((name) => !name.includes('/') || name.endsWith('/README.md'))
  for (const name of listed) assert.ok(overview.includes(`href="${guideUrl(name)}"`), name)
})

test('a page of the guide has the text of its file, fits a phone, and follows the dark mode of the device', async () => {
  const surfaces = new Set<unknown>()
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, problems } = await open('/docs/guide', { viewport: phone, colorScheme })
    for (const name of guideNames.filter((each) => !each.includes('/'))) {
      await page.goto(server.url + guideUrl(name))
      const [title] = /^# (.*)$/m.exec(readFileSync(join(docs, name), 'utf8'))!.slice(1)
      await page.getByRole('heading', { level: 1, name: title! }).waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, name)
      const loaded = await page.evaluate('[...document.images].every((image) => image.naturalWidth > 0)')
      assert.equal(loaded, true, `the pictures of ${name} are loaded`)
      await picture(page, `${name}-${colorScheme}`)
    }
    surfaces.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
    assert.deepEqual(problems, [])
    await page.context().close()
  }
  assert.equal(surfaces.size, 2)
})

test('files are sent compressed and cached until they change, and no other file can be read', async () => {
  const answer = await server.fetch('/docs', { key: null, headers: { 'accept-encoding': 'gzip' } })
  const html = await answer.text()
  const policy = answer.headers.get('content-security-policy')!
  assert.match(policy, /default-src 'none'; script-src 'self';/)
  assert.match(policy, /connect-src 'self'; .*frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/)
  assert.equal(answer.headers.get('cache-control'), 'no-cache')
  const scalar = /src="(\/docs\/files\/scalar-[^"]+)"/.exec(html)![1]!
  const packed = await server.fetch(scalar, { key: null, headers: { 'accept-encoding': 'br' } })
  // Node's client decompresses the body, but content-length is the compressed size.
  assert.equal(packed.headers.get('content-encoding'), 'br')
  assert.match(packed.headers.get('cache-control')!, /immutable/)
  assert.ok(Number(packed.headers.get('content-length')) < 1_500_000)
  const plain = await server.fetch(scalar, { key: null, headers: { 'accept-encoding': 'identity' } })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.equal(await plain.text(), await packed.text())
  const guide = await server.fetch('/docs/guide', { key: null })
  assert.doesNotMatch(guide.headers.get('content-security-policy')!, /script-src|unsafe/)
  for (const path of ['nothing', 'index', 'index.html.', '..%2fpackage.json', '%2e%2e/%2e%2e/package.json']) {
    const refused = await server.fetch(`/docs/${path}`, { key: null })
    assert.equal(refused.status, 404, path)
    assert.equal(((await refused.json()) as { code: string }).code, 'not_found')
  }
})
