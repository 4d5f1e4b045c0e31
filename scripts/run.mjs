// Every npm script starts this file. It sets up first, then runs the task with a Node that is new enough. It is plain
// JavaScript, because the machine's own Node may be version 20, which cannot run TypeScript.
import { spawn } from 'node:child_process'
import * as module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setUp, SetUpError, updateBrowser } from './lib/setup.mjs'

const root = join(import.meta.dirname, '..')

const kubectl = { command: 'kubectl', package: 'kubernetes-client' }
/** What builds Kubernetes, what runs a cluster on this machine, and what its tests use. */
const kubernetesPackages = [
  { file: '/usr/lib/go-1.19/bin/go', package: 'golang-1.19-go' },
  { command: 'dpkg-source', package: 'dpkg-dev' },
  { command: 'xz', package: 'xz-utils' },
  { file: '/usr/include/stdio.h', package: 'libc6-dev' },
  { command: 'etcd', package: 'etcd-server' },
  { file: '/usr/lib/cni/bridge', package: 'containernetworking-plugins' },
  kubectl,
  { command: 'ip', package: 'iproute2' },
  { command: 'sysctl', package: 'procps' },
  'patch',
  'gcc',
  'containerd',
  'runc',
  'iptables',
  'openssl',
  'buildah',
  'mmdebstrap',
  'ceph-mon',
  'ceph-osd',
  'radosgw',
]

const tasks = {
  setup: {},
  start: { file: 'packages/server/dist/main.mjs', isProduction: true },
  dev: { file: 'packages/server/src/main.ts', nodeOptions: ['--watch'] },
  admin: { file: 'packages/server/dist/admin.mjs', isProduction: true },
  'update-browser': { isProduction: true, run: updateBrowser },
  check: { file: 'scripts/check.ts' },
  test: {
    file: 'scripts/test/main.ts',
    packagesFor: {
      full: [
        'tmux',
        'zsh',
        'fish',
        'wrk',
        'xdotool',
        'ceph-mon',
        'ceph-osd',
        'radosgw',
        { command: 'chromedriver', package: 'chromium-driver' },
        { file: '/usr/lib/dovecot/imap', package: 'dovecot-imapd' },
      ],
    },
    toolsFor: { full: ['helm', 'clients'] },
  },
  kubernetes: {
    file: 'scripts/kubernetes/main.ts',
    packages: process.env.KUBECONFIG ? [kubectl] : kubernetesPackages,
    tools: process.env.KUBECONFIG ? [] : ['helm'],
  },
  'test-gpu': { file: 'tests/gpu/main.ts' },
  'test-image': { file: 'tests/image/main.ts', packages: ['buildah', 'mmdebstrap', 'runc'] },
  suites: { file: 'scripts/suites/main.ts' },
  format: { file: 'scripts/format.ts' },
  generate: { file: 'scripts/generate.ts' },
  surface: { file: 'scripts/surface.ts' },
  fuzz: { file: 'tests/fuzz/main.ts' },
  soak: { file: 'tests/soak/main.ts' },
  logins: { file: 'tests/logins/main.ts' },
  bench: { file: 'scripts/bench/main.ts', packages: ['wrk', 'xdotool'] },
  scale: { file: 'scripts/scale/main.ts' },
}

async function main([name, ...args]) {
  const task = tasks[name]
  if (!task) throw new SetUpError(`Cannot run "${name}": the tasks are ${Object.keys(tasks).join(', ')}`)
  const node = setUp({
    root,
    packages: task.packages ?? task.packagesFor?.[args[0]] ?? [],
    tools: task.tools ?? task.toolsFor?.[args[0]] ?? [],
    isProduction: task.isProduction ?? false,
  })
  task.run?.({ root })
  if (!task.file) return
  const file = join(root, task.file)
  // Node keeps the compiled code, so a second start takes half the time.
  process.env.NODE_COMPILE_CACHE ??= join(root, '.cache', 'compile')
  if (node === process.execPath && !task.nodeOptions) {
    process.argv = [process.argv[0], file, ...args]
    module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
    await import(pathToFileURL(file).href)
    return
  }
  await runWith(node, [...(task.nodeOptions ?? []), file, ...args])
}

/** The IPC channel closes when this process is killed, so the child notices it even without a signal. */
async function runWith(node, args) {
  const path = `${join(node, '..')}:${process.env.PATH}`
  const child = spawn(node, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, PATH: path },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const code = await new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? (signal ? 1 : 0)))
  })
  process.exit(code)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof SetUpError)) throw error
  console.error(error.message)
  process.exit(1)
}
