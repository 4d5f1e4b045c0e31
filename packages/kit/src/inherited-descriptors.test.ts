import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('children inherit nothing that the process inherited itself', () => {
  const script = `
    import { spawnSync } from 'node:child_process'
    import { closeInheritedDescriptors } from ${JSON.stringify(`${import.meta.dirname}/inherited-descriptors.ts`)}
    const seen = () => spawnSync('sh', ['-c', 'ls -l /proc/$$/fd']).stdout.toString().includes('/etc/passwd')
    const before = seen()
    closeInheritedDescriptors()
    console.log(JSON.stringify([before, seen()]))`
  // A high one: those next to the standard ones Node takes care of by itself.
  const open = 'exec 200< /etc/passwd; exec "$@"'
  const args = ['-c', open, 'bash', process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr } = spawnSync('bash', args)
  assert.deepEqual(JSON.parse(stdout.toString()), [true, false], stderr.toString())
})
