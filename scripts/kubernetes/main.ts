// npm run test:kubernetes: the tests that need a Kubernetes cluster, and the rows of the bench that do.
//
// Without KUBECONFIG it makes a cluster of two nodes on this machine, and takes it down again. Everything of it is in
// namespaces of its own, so it ends with them, however this program ends. Control groups and files, which do not, are
// removed at the end, or by the next run.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Plan } from './cluster.ts'
import { removeGroups } from './groups.ts'
import { archiveAt, buildBerth } from './images.ts'
import { benchArgs, ENVIRONMENT, prepareTests, runWork, testArgs } from './tests.ts'

const root = join(import.meta.dirname, '../..')
const NODES = 2
const EVERYWHERE = 'tests/kubernetes/*.test.ts'
const ALL = 'tests/kubernetes/**/*.test.ts'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    bench: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
  },
})
const cache = resolve(
  process.env['BERTH_KUBERNETES_CACHE'] ??
    join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'berth-kubernetes'),
)
const running = join(cache, 'running')
const environmentFile = join(running, ENVIRONMENT)
const pidFile = join(running, 'pid')

if (values.help) {
  console.log(`npm run test:kubernetes [-- [options] [files]]

  --cluster    make the cluster and keep it until this command ends; other runs use it meanwhile
  --bench      instead of tests, measure the rows of npm run bench that need a cluster; --quick: fewer pairs;
               --rows 39: only this one

  KUBECONFIG              use this cluster instead of making one; without tests/kubernetes/fleet, whose tests break nodes
  BERTH_TEST_IMAGE        with KUBECONFIG: name of an image that the nodes have or can pull
                          without: a file that \`docker save\` wrote; by default the image is built from this checkout
  BERTH_KUBERNETES_CACHE  where the built Kubernetes and images are kept: ${cache}`)
  process.exit(0)
}
try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function main(): Promise<number> {
  if (process.env['KUBECONFIG']) {
    if (!process.env['BERTH_TEST_IMAGE']) {
      throw new Error(
        'Cannot run the tests on this cluster: set BERTH_TEST_IMAGE to an image that its nodes have',
      )
    }
    await prepareTests()
    return runWork({ root, args: chosen(EVERYWHERE), env: {} })
  }
  if (process.getuid!() !== 0) {
    throw new Error(
      'Cannot make a cluster: only root may make its networks; run this as root, or set KUBECONFIG',
    )
  }
  mkdirSync(cache, { recursive: true })
  if (isLockedByUs()) return withNewCluster()
  if (values.cluster || !existsSync(environmentFile)) {
    throw new Error(`Cannot make a cluster in ${cache}: another run uses it; wait until that has ended`)
  }
  return withClusterThatStays()
}

/** Arguments of Node. */
function chosen(pattern: string): readonly string[] {
  if (values.bench) return benchArgs({ rows: values.rows, isQuick: values.quick })
  return testArgs(positionals.length > 0 ? positionals : globSync(pattern, { cwd: root }).toSorted())
}

/** The lock is there until this process ends. */
function isLockedByUs(): boolean {
  const lock = openSync(join(cache, 'lock'), 'w')
  return (
    spawnSync('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'inherit', lock] }).status === 0
  )
}

async function withNewCluster(): Promise<number> {
  await clear()
  execFileSync('sh', [join(import.meta.dirname, 'build.sh'), cache], { stdio: 'inherit' })
  const given = process.env['BERTH_TEST_IMAGE']
  const image = given ? archiveAt(resolve(given)) : buildBerth(root, cache)
  const args = values.cluster ? undefined : chosen(ALL)
  if (args) await prepareTests()
  try {
    const logs = join(cache, 'logs')
    return await runApart({ root, kubernetes: cache, running, logs, image, nodes: NODES, args })
  } finally {
    await clear()
  }
}

async function clear(): Promise<void> {
  await removeGroups()
  // Hundreds of thousands of files.
  execFileSync('rm', ['-rf', running])
}

/** Runs cluster.ts in namespaces of its own. Nothing in them outlives this process. */
async function runApart(plan: Plan): Promise<number> {
  mkdirSync(running, { recursive: true })
  const namespaces = ['--mount', '--net', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']
  // The first process of a PID namespace gets every process that lost its parent; a shell that waits ends those, too.
  const first = ['sh', '-c', '"$@" & wait "$!"', 'sh']
  const program = [process.execPath, join(import.meta.dirname, 'cluster.ts'), JSON.stringify(plan)]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...namespaces, ...first, ...program], {
    // Ctrl-C reaches this process only, which ends the rest.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  writeFileSync(pidFile, String(child.pid))
  let stoppedBy: NodeJS.Signals | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stoppedBy = signal
      // With cluster.ts the shell ends, with the shell all others in the namespace, and then `unshare`.
      const shell = oldestChild(child.pid!)
      process.kill((shell && oldestChild(shell)) ?? shell ?? child.pid!, 'SIGKILL')
    })
  }
  const [code] = (await once(child, 'exit')) as [number | null]
  if (stoppedBy) console.error(`kubernetes: ended by ${stoppedBy}`)
  return stoppedBy ? 1 : (code ?? 1)
}

/** The oldest child of a process. That of `unshare` is the first in the new namespaces. */
function oldestChild(parent: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    return Number(children.split(' ')[0]) || undefined
  } catch {
    return undefined
  }
}

/** Of a run with --cluster. */
async function withClusterThatStays(): Promise<number> {
  const env = JSON.parse(readFileSync(environmentFile, 'utf8')) as Record<string, string>
  const pid = oldestChild(Number(readFileSync(pidFile, 'utf8')))
  if (pid === undefined)
    throw new Error(`Cannot use the cluster in ${cache}: it has just ended; run this again`)
  await prepareTests()
  const where = ['--target', String(pid), '--mount', '--net', '--pid', '--ipc', `--wd=${root}`]
  return runWork({ root, args: chosen(ALL), env, prefix: ['nsenter', ...where] })
}
