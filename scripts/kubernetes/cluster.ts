// Makes the cluster inside of namespaces of its own, and runs the tests or the bench beside it. When it ends, the kernel ends and
// removes everything that is in these namespaces. Started by main.ts.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { API, BRIDGE, MACHINE } from './addresses.ts'
import { Authority } from './authority.ts'
import { Programs, run, untilSo } from './commands.ts'
import { startControlPlane } from './control-plane.ts'
import { startDns } from './dns.ts'
import { pauseImage, type ImageArchive } from './images.ts'
import { startNode, type NodeDescription } from './node.ts'
import { ENVIRONMENT, runWork } from './tests.ts'

/** How main.ts says what to do. */
export interface Plan {
  readonly root: string
  /** With bin/ and pause/, which build.sh made. */
  readonly kubernetes: string
  /** Empty, and removed afterwards. */
  readonly running: string
  readonly logs: string
  readonly image: ImageArchive
  readonly nodes: number
  /** Of Node. Undefined: the cluster stays until it is ended. */
  readonly args: readonly string[] | undefined
}

const startedAt = performance.now()
const say = (text: string) =>
  console.error(`kubernetes: ${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${text}`)

/** The kubelet changes these, and they are of the whole machine: it gets files instead. */
const KERNEL_SETTINGS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
]

async function main(plan: Plan): Promise<number> {
  const memory = makePlaces(plan)
  const programs = new Programs(plan.logs)
  const authority = new Authority(join(memory, 'certificates'), API)
  const bin = join(plan.kubernetes, 'bin')
  const kubeconfig = await startControlPlane({ bin, directory: memory, authority, programs })
  say('the API answers')
  await startDns(authority)
  const kubectl = (...args: string[]) => run(['kubectl', '--kubeconfig', kubeconfig, ...args])
  const mayProxy = ['--clusterrole=system:node-proxier', '--user=system:kube-proxy']
  kubectl('create', 'clusterrolebinding', 'kube-proxy', ...mayProxy)
  const images = [pauseImage(join(plan.kubernetes, 'pause/pause'), join(memory, 'pause')), plan.image]
  const shared = { count: plan.nodes, bin, directory: memory, images, authority, programs }
  const numbers = Array.from({ length: plan.nodes }, (_, index) => index + 1)
  const nodes = await Promise.all(
    numbers.map((number) => startNode({ ...shared, number, disk: join(plan.running, `node${number}`) })),
  )
  say('the nodes have their images')
  const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}'
  await untilSo('all nodes are ready', () => {
    const states = kubectl('get', 'nodes', '--output', `jsonpath=${ready}`).split(' ')
    return states.filter((state) => state === 'True').length === nodes.length
  })
  say(`${nodes.length} nodes are ready`)
  const env = testEnvironment(kubeconfig, plan.image.name, nodes)
  const code = plan.args ? await runWork({ root: plan.root, args: plan.args, env }) : await stay(plan, env)
  programs.expectEnds()
  return code
}

/** Returns a directory in memory that all namespaces of the cluster see. */
function makePlaces({ running }: Plan): string {
  const memory = join(running, 'memory')
  mkdirSync(memory, { recursive: true })
  run(['mount', '-t', 'tmpfs', '-o', 'mode=0700', 'tmpfs', memory])
  run(['mount', '-t', 'tmpfs', 'tmpfs', '/run'])
  // What tests leave when they are killed goes with the namespace, too.
  mkdirSync('/run/tmp', { mode: 0o1777 })
  for (const setting of KERNEL_SETTINGS) {
    const file = join(memory, setting.replaceAll('/', '-'))
    writeFileSync(file, readFileSync(join('/proc/sys', setting)))
    run(['mount', '--bind', file, join('/proc/sys', setting)])
  }
  run(['ip', 'link', 'set', 'lo', 'up'])
  run(['ip', 'link', 'add', BRIDGE, 'type', 'bridge'])
  run(['ip', 'address', 'add', `${MACHINE}/24`, 'dev', BRIDGE])
  run(['ip', 'link', 'set', BRIDGE, 'up'])
  return memory
}

function testEnvironment(
  kubeconfig: string,
  image: string,
  nodes: readonly NodeDescription[],
): Record<string, string> {
  return {
    KUBECONFIG: kubeconfig,
    BERTH_TEST_IMAGE: image,
    BERTH_TEST_PULL_POLICY: 'Never',
    BERTH_TEST_MACHINE: MACHINE,
    BERTH_TEST_NODES: JSON.stringify(nodes),
    TMPDIR: '/run/tmp',
  }
}

async function stay({ running }: Plan, env: Record<string, string>): Promise<number> {
  writeFileSync(join(running, ENVIRONMENT), JSON.stringify(env))
  say('the cluster stays until this command ends; npm run test:kubernetes in another shell uses it')
  return new Promise(() => setInterval(() => {}, 3_600_000))
}

try {
  process.exit(await main(JSON.parse(process.argv[2]!) as Plan))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
