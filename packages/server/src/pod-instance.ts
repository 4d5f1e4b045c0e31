// The program of the container `instance` of a Pod; see instances/pod.
import { environment } from './config/environment.ts'
import { launch, type PodStart } from './instances/pod/launcher.ts'
import { sharedPaths } from './instances/pod/protocol.ts'
import { instanceFiles } from './instances/local/settings.ts'

const {
  BERTH_POD_INSTANCE: id = '',
  BERTH_POD_START: start = '{}',
  BERTH_POD_SHARED: shared = '/run/berth',
} = environment

try {
  const code = await launch({
    id,
    // SAFETY: the driver wrote it.
    start: JSON.parse(start) as PodStart,
    paths: sharedPaths(shared),
    files: instanceFiles(),
  })
  process.exit(code)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}
