// Lighthouse audits a page in a session, in both of its ways: with a page of Puppeteer, and as a command with a port.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { connect } from 'puppeteer-core'
import { openDevtoolsPort } from '../../examples/devtools-port.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession } from '../fixtures/sessions.ts'
import { modulesOf } from '../fixtures/tools.ts'
import { startOffice } from './office.ts'

const owner = { after }
const office = await startOffice(owner)
const server = await startServer(owner, { hasRealInstances: true, env: office.allow })
const modules = modulesOf('clients')

interface Report {
  readonly requestedUrl: string
  readonly runtimeError?: object
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>
  readonly audits: Readonly<Record<string, { readonly score: number | null }>>
}

type Lighthouse = (
  url: string,
  flags: object,
  config: undefined,
  page: object,
) => Promise<{ readonly lhr: Report }>

function assertAudited(report: Report): void {
  assert.equal(report.runtimeError, undefined)
  assert.equal(report.requestedUrl, `${office.url}/`)
  for (const category of ['accessibility', 'best-practices', 'performance', 'seo']) {
    assert.equal(typeof report.categories[category]?.score, 'number', `no score for ${category}`)
  }
  assert.equal(report.audits['document-title']?.score, 1)
  assert.equal(report.audits['label']?.score, 1)
}

test('with a page of Puppeteer', async () => {
  const { default: lighthouse } = (await import(
    pathToFileURL(join(modules, 'lighthouse/core/index.js')).href
  )) as { default: Lighthouse }
  const session = await createSession(server)
  const browser = await connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null })
  const page = (await browser.pages())[0]!
  const flags = { logLevel: 'error', formFactor: 'desktop', screenEmulation: { disabled: true } }
  const { lhr } = await lighthouse(`${office.url}/`, flags, undefined, page)
  assertAudited(lhr)
  await browser.disconnect()
})

test('as a command, with a port that leads to the session', async () => {
  const session = await createSession(server)
  const port = await openDevtoolsPort(session.cdp_ws_url)
  try {
    const file = join(tempDir(owner), 'report.json')
    const cli = join(modules, 'lighthouse/cli/index.js')
    const args = [`--port=${port.address.split(':')[1]}`, '--output=json', `--output-path=${file}`, '--quiet']
    await promisify(execFile)(process.execPath, [cli, `${office.url}/`, ...args], {
      env: { PATH: process.env['PATH'], HOME: join(file, '..'), CI: '1' },
    })
    const { default: report } = (await import(file, { with: { type: 'json' } })) as { default: Report }
    assertAudited(report)
  } finally {
    port.close()
  }
})
