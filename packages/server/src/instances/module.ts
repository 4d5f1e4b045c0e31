// Where browsers come from: this host's driver and the instances it starts.
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Platform } from '../platform/module.ts'
import { serviceSecret } from '../platform/secrets/service-secret.ts'
import type { Driver, InstanceLimits } from './driver/driver.ts'
import { AllowList } from './egress/allow-list.ts'
import { EgressPolicy } from './egress/policy.ts'
import { EgressProxy } from './egress/proxy.ts'
import { EgressShares } from './egress/shares.ts'
import { SystemNames } from './egress/dns/system-names.ts'
import type { DirectUpstreamOptions } from './egress/upstream.ts'
import { Instances, kinds } from './stock/instances.ts'
import { watchBrowserAge } from './local/browser-age.ts'
import { KeptDriver } from './kept/kept-driver.ts'
import { Cluster } from './kubernetes/cluster.ts'
import { KubernetesDriver } from './kubernetes/kubernetes-driver.ts'
import { NodeFreezer } from './kubernetes/node-freezer.ts'
import { podPlace } from './kubernetes/settings.ts'
import { LocalDriver } from './local/local-driver.ts'
import { localSettings } from './local/settings.ts'

const MB = 1024 * 1024

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

/** The driver of a server that an ordinary user started, as its settings say. */
export async function openDriver(
  config: Config,
  log: Logger,
  platform: Promise<Pick<Platform, 'db' | 'box' | 'serverId'>>,
): Promise<Driver> {
  return config.BERTH_DRIVER === 'kubernetes'
    ? openKubernetesDriver(config, log, await platform)
    : openLocalDriver(config, log)
}

async function openKubernetesDriver(
  config: Config,
  log: Logger,
  { db, box, serverId }: Pick<Platform, 'db' | 'box' | 'serverId'>,
): Promise<Driver> {
  const cluster = await Cluster.open({
    kubeconfig: config.BERTH_KUBERNETES_KUBECONFIG?.toString(),
    namespace: config.BERTH_KUBERNETES_NAMESPACE,
  })
  return KubernetesDriver.open({
    cluster,
    place: podPlace(config),
    secret: Buffer.from(await serviceSecret(db, box, 'instance-keys')),
    serverId,
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    startMs: config.BERTH_KUBERNETES_START_SECONDS * 1000,
    fullMs: config.BERTH_KUBERNETES_FULL_SECONDS * 1000,
    egress: newEgressProxy(config, log),
    freezer: nodeFreezer(config),
    log,
  })
}

function nodeFreezer(config: Config): NodeFreezer | undefined {
  const { BERTH_KUBERNETES_FREEZER_KEY: key, BERTH_KUBERNETES_FREEZER_PORT: port } = config
  return key === '' ? undefined : new NodeFreezer({ key: Buffer.from(key), port })
}

/** It makes the instances itself, as far as the machine allows. */
async function openLocalDriver(config: Config, log: Logger): Promise<Driver> {
  watchBrowserAge(log)
  return LocalDriver.open({ ...localSettings(config), egress: newEgressProxy(config, log), log })
}

/** The driver of a server that root started, and that is not root itself. */
export async function openKeptDriver(config: Config, log: Logger): Promise<KeptDriver> {
  watchBrowserAge(log)
  return KeptDriver.open({ egress: newEgressProxy(config, log), log })
}

function newEgressProxy(config: Config, log: Logger): EgressProxy {
  return new EgressProxy({
    policy: newEgressPolicy(config),
    direct: { names: newSystemNames(config) },
    shares: new EgressShares({
      connectionsPerProject: config.BERTH_EGRESS_CONNECTIONS,
      bytesPerSecond: (config.BERTH_EGRESS_MBIT * 1_000_000) / 8,
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
      gpu: config.BERTH_WARM_GPU,
    },
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    maxWaitingStartsPerProject: config.BERTH_MAX_WAITING_STARTS,
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

function limitsOf(config: Config, { headless }: { headless: boolean }): InstanceLimits {
  return {
    memoryBytes: config.BERTH_SESSION_MEMORY_MB * MB * (headless ? 1 : 2),
    processes: config.BERTH_SESSION_PROCESSES,
    cpus: config.BERTH_SESSION_CPUS,
    homeBytes: config.BERTH_SESSION_DISK_MB * MB,
  }
}
