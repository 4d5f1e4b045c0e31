// npm run test:gpu: sessions on a real GPU. On a machine without one it says so and does nothing.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findGpus } from '@berth/server/instances/local/gpu/find-gpus'
import { listGpus } from '@berth/server/instances/local/gpu/listing'

const { values } = parseArgs({
  options: { help: { type: 'boolean', default: false }, pictures: { type: 'string' } },
})
if (values.help) {
  console.log(`npm run test:gpu -- [--pictures FOLDER]

Tests sessions on this machine's GPU, and measures them against a browser without Berth.

  --pictures FOLDER   put a screenshot, a frame of the live view and a recording there`)
} else {
  const listing = listGpus('')
  const { gpus, problems } = findGpus(listing, process.env['BERTH_GPU'] ?? 'auto')
  if (gpus.length === 0) {
    console.log(
      `test:gpu did nothing, because this machine has no GPU that sessions could use: ${problems.join('; ')}`,
    )
    // A GPU that is there and cannot be used is worth a red line.
    const hasAny = listing.nvidiaDevices.length > 0 || existsSync('/dev/dri')
    process.exitCode = hasAny ? 1 : 0
  } else {
    if (values.pictures !== undefined) process.env['BERTH_TEST_PICTURES'] = values.pictures
    await import('./sessions.ts')
  }
}
