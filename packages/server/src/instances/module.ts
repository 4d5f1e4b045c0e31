// Where browsers come from: this host's driver and the instances it starts.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { distOf } from '../platform/files/installation.ts'
import type { Platform } from '../platform/module.ts'
import type { Driver, InstanceLimits } from './driver/driver.ts'
import { AllowList } from './egress/allow-list.ts'
import { EgressPolicy } from './egress/policy.ts'
import { EgressProxy } from './egress/proxy.ts'
import { SystemNames } from './egress/dns/system-names.ts'
import type { DirectUpstreamOptions } from './egress/upstream.ts'
import { Instances, kinds } from './stock/instances.ts'
import { watchBrowserAge } from './local/browser-age.ts'
import { LocalDriver } from './local/local-driver.ts'

const MB = 1024 * 1024
const agentDist = distOf('agent')

export function newEgressPolicy(config: Config): EgressPolicy {
  return new EgressPolicy({ allow: config.BERTH_EGRESS_ALLOW })
}

/** Every look-up of a name that a session or a project chooses goes through these. */
export function newSystemNames(config: Config): SystemNames {
  return new SystemNames({ servers: config.BERTH_DNS_SERVERS })
}

/** For the server's own connections, by the same rules as those of sessions. */
export function directOptions(config: Config): DirectUpstreamOptions {
  return { policy: newEgressPolicy(config), names: newSystemNames(config) }
}

export async function openLocalDriver(config: Config, log: Logger): Promise<Driver> {
  const esbuild = findEsbuild()
  watchBrowserAge(log)
  return LocalDriver.open({
    dataDir: config.BERTH_DATA_DIR,
    agentFile: join(agentDist, 'agent.mjs'),
    playwrightRunner: join(agentDist, 'playwright.cjs'),
    ...(esbuild !== undefined && { esbuild }),
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    uidBase: config.BERTH_INSTANCE_UID_BASE,
    allowWeakIsolation: config.BERTH_ALLOW_WEAK_ISOLATION,
    egress: new EgressProxy({
      policy: newEgressPolicy(config),
      direct: { names: newSystemNames(config) },
      log,
    }),
    log,
  })
}

export function newInstances({ config, metrics, log }: Platform, driver: Driver): Instances {
  const instances = new Instances({
    driver,
    limits: ({ headless }) => limitsOf(config, { headless }),
    stock: {
      empty: config.BERTH_EMPTY_INSTANCES,
      headless: config.BERTH_WARM_HEADLESS,
      headful: config.BERTH_WARM_HEADFUL,
    },
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    hostLoopback: new AllowList(config.BERTH_EGRESS_ALLOW).hasLoopback,
    log,
  })
  for (const shortcoming of instances.shortcomings) {
    log.warn({ shortcoming }, 'no browser sessions on this host')
  }
  metrics.gaugeBy('kind', {
    name: 'berth_warm_instances',
    help: 'Instances held ready for a session; empty: without a browser',
    read: () => Object.fromEntries(kinds.map((kind) => [kind, instances.readyCount(kind)])),
  })
  return instances
}

/** Builds apps inside instances; without it, TypeScript apps cannot be built. */
function findEsbuild(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@esbuild/linux-${process.arch}/bin/esbuild`)
  } catch {
    return undefined
  }
}

function limitsOf(config: Config, { headless }: { headless: boolean }): InstanceLimits {
  return {
    memoryBytes: config.BERTH_SESSION_MEMORY_MB * MB * (headless ? 1 : 2),
    processes: config.BERTH_SESSION_PROCESSES,
    cpus: config.BERTH_SESSION_CPUS,
    homeBytes: config.BERTH_SESSION_DISK_MB * MB,
  }
}
