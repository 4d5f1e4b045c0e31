import { Page } from '../subjects/page.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { hasEmptyInstances, whyNoSessions } from '../subjects/session-servers.ts'
import { compare } from '../measure/compare.ts'
import { atMost } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import type { ProcessRow } from './row.ts'

const POOL_SIZE = 2

export const poolAcquireRow: ProcessRow = {
  number: 36,
  title: 'A browser leased from a pool until usable, against a cold create',
  whySkipped: whyNoSessions,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const [pooled, cold] = (await servers.open([
      { warmHeadless: effort.warmInstances },
      hasEmptyInstances ? { empty: effort.emptyInstances } : {},
    ])) as [SessionServer, SessionServer]
    const pool = await pooled.createPool({ size: POOL_SIZE, headless: true, fill_rate_per_minute: 10_000 })
    try {
      await pooled.settled({ sessions: POOL_SIZE })
      const line = { row: 36, unit: 'ms', digits: 1 } as const
      yield await compare(
        {
          blocks: { ours: acquireBlock(pooled, pool.id), baseline: createBlock(cold) },
          pairs: effort.createPairs,
          metrics: [
            {
              ...line,
              name: 'Pool acquire until usable, against a cold create',
              reading: 'usableMs',
              judged: 'ratio',
              goal: atMost(0.1, 0.03),
            },
            { ...line, name: 'Pool acquire: answer alone', reading: 'answerMs', judged: 'ratio' },
            {
              ...line,
              name: 'Pool release with reset, until a clean browser is ready',
              reading: 'resetMs',
              judged: 'value',
              isOursOnly: true,
            },
          ],
        },
        measuring,
      )
    } finally {
      await pooled.deletePool(pool)
      await pooled.settled()
    }
  },
}

function acquireBlock(server: SessionServer, poolId: string): Block {
  return async () => {
    const startedAt = performance.now()
    const browser = await server.acquire(poolId)
    const answerMs = performance.now() - startedAt
    const page = await Page.open(browser.cdp_ws_url)
    const usableMs = performance.now() - startedAt
    await page.close()
    const releasedAt = performance.now()
    await server.release(poolId, browser, { reset: true })
    const resetMs = performance.now() - releasedAt
    await server.settled({ sessions: POOL_SIZE })
    return { usableMs, answerMs, resetMs }
  }
}

function createBlock(server: SessionServer): Block {
  return async () => {
    const startedAt = performance.now()
    const browser = await server.create({ headless: true })
    const answerMs = performance.now() - startedAt
    const page = await Page.open(browser.cdp_ws_url)
    const usableMs = performance.now() - startedAt
    await page.close()
    await server.delete(browser)
    await server.settled()
    return { usableMs, answerMs }
  }
}
