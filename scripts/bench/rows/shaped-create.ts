import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import { archiveOf } from '../../../tests/fixtures/zip.ts'
import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { hasEmptyInstances, whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atMost } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessRow } from './row.ts'

interface Wish {
  readonly name: string
  readonly body: CreateBrowserRequest
  /** The expression's value when the page is as requested. */
  readonly expression: string
  readonly value: string
}

export const shapedCreateRow: ProcessRow = {
  number: 4,
  title: 'Pooled create with its own viewport, start URL or extension, against a cold create of the same',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const [pooled, cold] = (await servers.open([
      { warmHeadless: effort.warmInstances },
      hasEmptyInstances ? { empty: effort.emptyInstances } : {},
    ])) as [SessionServer, SessionServer]
    const url = `${(await servers.site()).url}/popup`
    for (const server of [pooled, cold]) await server.uploadExtension(EXTENSION, marker())
    const wishes: Wish[] = [
      {
        name: 'viewport',
        body: { viewport: { width: 1024, height: 768 } },
        expression: 'innerWidth + "x" + innerHeight',
        value: '1024x768',
      },
      {
        name: 'start_url',
        body: { start_url: url },
        expression: 'document.readyState + " " + location.href',
        value: `complete ${url}`,
      },
      {
        name: 'extension',
        body: { start_url: url, extensions: [{ name: EXTENSION }] },
        expression: 'document.readyState + " " + document.documentElement.dataset.measured',
        value: 'complete yes',
      },
    ]
    for (const wish of wishes) {
      yield await compare(
        {
          blocks: { ours: createBlock(pooled, wish), baseline: createBlock(cold, wish) },
          pairs: effort.createPairs,
          metrics: [
            {
              row: 4,
              name: `Pooled create with ${wish.name}, against a cold one`,
              reading: 'asWishedMs',
              unit: 'ms',
              digits: 1,
              judged: 'ratio',
              goal: atMost(0.25, 0.05),
            },
          ],
        },
        measuring,
      )
    }
  },
}

const EXTENSION = 'measured'

/** Sets a mark in every page. */
function marker(): Buffer {
  const manifest = {
    manifest_version: 3,
    name: 'Measured',
    version: '1.0',
    content_scripts: [{ matches: ['<all_urls>'], js: ['mark.js'], run_at: 'document_start' }],
  }
  return archiveOf([
    { name: 'manifest.json', content: JSON.stringify(manifest) },
    { name: 'mark.js', content: `document.documentElement.dataset.measured = 'yes'` },
  ])
}

function createBlock(server: SessionServer, { body, expression, value }: Wish): Block {
  return async () => {
    const startedAt = performance.now()
    const browser = await server.create({ headless: true, ...body })
    const page = await Page.open(browser.cdp_ws_url)
    await page.until(expression, value)
    const asWishedMs = performance.now() - startedAt
    await page.close()
    await server.delete(browser)
    await server.settled()
    return { asWishedMs }
  }
}
