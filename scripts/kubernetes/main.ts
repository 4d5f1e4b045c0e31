// Runs the tests that need a Kubernetes cluster:
//
//   KUBECONFIG=… BERTH_TEST_IMAGE=… npm run test:kubernetes [-- files]
//
// The nodes have the image, or can pull it. The machine of the tests must reach Pods. BERTH_TEST_NAMESPACE is the namespace,
// by default `default`.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const missing = ['KUBECONFIG', 'BERTH_TEST_IMAGE'].filter((name) => !process.env[name])
if (missing.length > 0) {
  console.error(`Cannot run the tests of Kubernetes: set ${missing.join(' and ')}`)
  process.exit(1)
}
const chosen = process.argv.slice(2)
const files = chosen.length > 0 ? chosen : globSync('tests/kubernetes/**/*.test.ts', { cwd: root }).toSorted()
// One after another: they share the cluster, and some of them fill it.
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...files], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(status ?? 1)
