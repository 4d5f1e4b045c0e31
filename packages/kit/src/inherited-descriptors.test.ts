import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('closeInheritedDescriptors keeps inherited descriptors away from child processes', () => {
  const script = `
    import { spawnSync } from 'node:child_process'
    import { closeInheritedDescriptors } from ${JSON.stringify(`${import.meta.dirname}/inherited-descriptors.ts`)}
    const seen = () => spawnSync('sh', ['-c', 'ls -l /proc/$$/fd']).stdout.toString().includes('/etc/passwd')
    const before = seen()
    closeInheritedDescriptors()
    console.log(JSON.stringify([before, seen()]))`
  // Use a high number, because Node closes the first few itself.
  const open = 'exec 200< /etc/passwd; exec "$@"'
  const args = ['-c', open, 'bash', process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr } = spawnSync('bash', args)
  assert.deepEqual(JSON.parse(stdout.toString()), [true, false], stderr.toString())
})
