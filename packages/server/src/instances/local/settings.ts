// What the driver needs of the settings and of the installation.
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { distOf } from '../../platform/files/installation.ts'
import type { LocalDriverOptions } from './local-driver.ts'

export function localSettings(config: Config): Omit<LocalDriverOptions, 'egress' | 'log'> {
  const agentDist = distOf('agent')
  const esbuild = findEsbuild()
  return {
    dataDir: config.BERTH_DATA_DIR,
    agentFile: join(agentDist, 'agent.mjs'),
    playwrightRunner: join(agentDist, 'playwright.cjs'),
    otherPlaywrights: config.BERTH_PLAYWRIGHT_VERSIONS.map((version) =>
      join(agentDist, `playwright-${version}.cjs`),
    ).filter((path) => existsSync(path)),
    ...(esbuild !== undefined && { esbuild }),
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    uidBase: config.BERTH_INSTANCE_UID_BASE,
    gpu: { wanted: config.BERTH_GPU, sessionsEach: config.BERTH_GPU_MAX_SESSIONS },
    swap: {
      wanted: config.BERTH_DEEP_STANDBY_SECONDS === 0 ? 'off' : config.BERTH_DEEP_STANDBY_SWAP,
      megabytes: config.BERTH_DEEP_STANDBY_SWAP_MB,
    },
    allowWeakIsolation: config.BERTH_ALLOW_WEAK_ISOLATION,
  }
}

/** What is bound into instances, where there are no settings: with every version of Playwright that is there. */
export function instanceFiles() {
  const agentDist = distOf('agent')
  return {
    agentFile: join(agentDist, 'agent.mjs'),
    playwrightRunner: join(agentDist, 'playwright.cjs'),
    otherPlaywrights: readdirSync(agentDist)
      .filter((name) => /^playwright-[\d.]+\.cjs$/.test(name))
      .map((name) => join(agentDist, name)),
    esbuild: findEsbuild(),
  }
}

/** Builds apps inside instances; without it, TypeScript apps cannot be built. */
function findEsbuild(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@esbuild/linux-${process.arch}/bin/esbuild`)
  } catch {
    return undefined
  }
}
