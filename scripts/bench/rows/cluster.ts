// Sessions in the Pods of a real cluster. Nothing is pinned, because the programs of the cluster run on every core.
import { BarePod } from '../subjects/bare-pod.ts'
import { Cdp } from '../subjects/cdp.ts'
import { Page } from '../subjects/page.ts'
import { whyNoSessions } from '../subjects/session-servers.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { compare } from '../measure/compare.ts'
import { onFreeCores } from '../measure/cores.ts'
import { atLeast, atMost, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { treeOf } from '../measure/processes.ts'
import { roundTripBlock } from './round-trip.ts'
import { createBlock } from './usable.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'

function whyNoCluster(): string | undefined {
  const { KUBECONFIG: kubeconfig, BERTH_TEST_IMAGE: image } = process.env
  if (!kubeconfig || !image) return 'there is no cluster: run `npm run test:kubernetes -- --bench`'
  return whyNoSessions()
}

/** On the cluster, and on this machine alone. */
async function bothServers({ cleanup, servers }: ProcessPlace, warmHeadless: number) {
  const { clusterSettings } = await import('../../../tests/kubernetes/fixture.ts')
  const [onCluster, local] = await servers.open([
    { warmHeadless, cluster: clusterSettings(cleanup) },
    { warmHeadless },
  ])
  return { onCluster: onCluster!, local: local! }
}

const pidsOf =
  (...servers: readonly SessionServer[]) =>
  () =>
    servers.flatMap(({ pid }) => treeOf(pid))

export const clusterCreateRow: ProcessRow = {
  number: 38,
  title: 'Warm create on a cluster until usable, against the local driver and against a bare Pod',
  whySkipped: whyNoCluster,
  async *measureProcesses(place, measuring) {
    const { effort } = measuring
    const { onCluster, local } = await bothServers(place, effort.warmInstances)
    const kind = { isHeadless: true }
    const ours = createBlock(onCluster, kind)
    const pids = pidsOf(onCluster, local)
    const usable: Omit<Metric, 'name' | 'judged'> = { row: 38, reading: 'usableMs', unit: 'ms', digits: 1 }
    yield await onFreeCores(place.cores, pids, () =>
      compare(
        {
          blocks: { ours, baseline: createBlock(local, kind) },
          pairs: effort.createPairs,
          metrics: [
            { ...usable, name: 'Warm create in a Pod: local driver', judged: 'ratio', goal: atMost(1.5) },
          ],
        },
        measuring,
      ),
    )
    yield await onFreeCores(place.cores, pids, () =>
      compare(
        {
          blocks: { ours, baseline: barePodBlock(place) },
          pairs: effort.createPairs,
          metrics: [
            { ...usable, name: 'Warm create in a Pod: bare Pod', judged: 'speedup', goal: atLeast(20) },
          ],
        },
        measuring,
      ),
    )
    await place.servers.close()
  },
}

export const clusterRoundTripRow: ProcessRow = {
  number: 39,
  title: 'Round trip of a CDP command to a Pod, against the local driver',
  whySkipped: whyNoCluster,
  async *measureProcesses(place, measuring) {
    const { effort } = measuring
    const { onCluster, local } = await bothServers(place, 0)
    const pids = pidsOf(onCluster, local)
    const browsers = await Promise.all([onCluster, local].map((server) => server.create({ headless: true })))
    const [ours, baseline] = await Promise.all(browsers.map(({ cdp_ws_url: url }) => Cdp.open(url)))
    const blocks = (calls: number) => ({
      ours: roundTripBlock(ours!, calls),
      baseline: roundTripBlock(baseline!, calls),
    })
    const line: Omit<Metric, 'name' | 'reading'> = { row: 39, unit: 'ms', digits: 3, judged: 'difference' }
    yield await onFreeCores(place.cores, pids, () =>
      compare(
        {
          blocks: blocks(effort.callsPerBlock),
          warmUp: blocks(effort.requestsPerWarmUp),
          pairs: effort.roundTripPairs,
          metrics: [
            { ...line, name: 'To a Pod: p50, added', reading: 'p50Ms', goal: atMost(0.3) },
            { ...line, name: 'To a Pod: p99, added', reading: 'callsMs', quantile: 0.99 },
          ],
        },
        measuring,
      ),
    )
    await Promise.all([ours!.close(), baseline!.close()])
    await Promise.all([onCluster.delete(browsers[0]!), local.delete(browsers[1]!)])
    await place.servers.close()
  },
}

function barePodBlock({ cleanup }: ProcessPlace): Block {
  return async () => {
    const { cluster, place } = await import('../../../tests/kubernetes/cluster.ts')
    const startedAt = performance.now()
    const pod = await BarePod.start(cleanup, { image: cluster.image, pullPolicy: place.pullPolicy })
    const page = await Page.open(pod.wsUrl)
    const usableMs = performance.now() - startedAt
    await page.close()
    await pod.end()
    return { usableMs }
  }
}
