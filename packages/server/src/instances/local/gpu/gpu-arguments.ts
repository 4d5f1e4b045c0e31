// Bubblewrap's arguments that give an instance its GPU, and nothing else of /dev.
import { basename, dirname, join } from 'node:path'
import { gpuPaths } from '@berth/contracts/gpu'
import type { Programs } from '../programs.ts'
import type { DeviceFile } from './listing.ts'
import type { Gpu } from './find-gpus.ts'

/** The name of the file that SharedFiles writes. */
export const NVIDIA_DRIVER_FILE = 'nvidia_icd.json'

/** NVIDIA's library for programs without a display of its own: the one for X wants an X server that runs on the GPU. */
export const nvidiaDriver = JSON.stringify({
  file_format_version: '1.0.0',
  ICD: { library_path: `${gpuPaths.libraries}/libEGL_nvidia.so.0`, api_version: '1.3.242' },
})

const STAGE = '/media'
/** As root, in a mount namespace that ends with the instance: the instance's own node of a device that not everybody may open. */
const STAGE_SCRIPT = `set -e
mount=$1 mknod=$2 chown=$3 uid=$4
shift 4
"$mount" -t tmpfs -o mode=0755,size=64k tmpfs ${STAGE}
while [ "$1" != -- ]; do
"$mknod" -m 0600 "${STAGE}/$1" c "$2" "$3"
"$chown" "$uid:$uid" "${STAGE}/$1"
shift 3
done
shift
unset PWD mount mknod chown uid
exec "$@"`

const isForEverybody = ({ mode }: DeviceFile) => (mode & 0o006) === 0o006

/** The part of the command that runs before the switch to the instance's uid; empty where it is not needed. */
export function gpuStage(gpu: Gpu, programs: Programs, uid: number | undefined): string[] {
  // Without root, the server could open the device by itself, and so can what it starts.
  const closed = uid === undefined ? [] : gpu.devices.filter((device) => !isForEverybody(device))
  if (closed.length === 0) return []
  return [
    programs.unshare,
    '--mount',
    '--propagation',
    'private',
    programs.sh,
    '-c',
    STAGE_SCRIPT,
    'sh',
    programs.mount,
    programs.mknod,
    programs.chown,
    String(uid),
    ...closed.flatMap(({ path, major, minor }) => [basename(path), String(major), String(minor)]),
    '--',
  ]
}

/** To be given after /dev, /run and /etc are made. `shared`: where the server's own files are. */
export function gpuArguments(
  gpu: Gpu,
  { shared, uid }: { shared: string; uid: number | undefined },
): string[] {
  const source = (device: DeviceFile) =>
    uid === undefined || isForEverybody(device) ? device.path : join(STAGE, basename(device.path))
  const drivers = gpu.drivers === 'own' ? [join(shared, NVIDIA_DRIVER_FILE)] : gpu.drivers
  const directories = [
    ...new Set(gpu.devices.map(({ path }) => dirname(path))),
    gpuPaths.libraries,
    dirname(gpuPaths.drivers),
    gpuPaths.drivers,
  ].filter((path) => path !== '/dev')
  return [
    ...directories.flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...gpu.devices.flatMap((device) => ['--dev-bind', source(device), device.path]),
    ...gpu.libraries.flatMap((path) => ['--ro-bind', path, join(gpuPaths.libraries, basename(path))]),
    ...Object.entries(gpu.links).flatMap(([name, target]) => [
      '--symlink',
      target,
      join(gpuPaths.libraries, name),
    ]),
    ...drivers.flatMap((path) => ['--ro-bind', path, join(gpuPaths.drivers, basename(path))]),
    ...sysfs(gpu),
  ]
}

/** The names inside of the files that tell Vulkan its drivers. */
export function driverNames({ drivers }: Gpu): string[] {
  return drivers === 'own' ? [NVIDIA_DRIVER_FILE] : drivers.map((path) => basename(path))
}

/** Mesa finds out through sysfs which of its drivers a device needs. It sees this device there and no other. */
function sysfs({ sysfs: path, devices }: Gpu): string[] {
  if (path === undefined) return []
  return [
    ...['/sys', '/sys/dev', '/sys/dev/char'].flatMap((each) => ['--perms', '0755', '--dir', each]),
    '--ro-bind',
    path,
    path,
    ...devices.flatMap(({ path: device, major, minor }) => [
      '--symlink',
      join(path, 'drm', basename(device)),
      `/sys/dev/char/${major}:${minor}`,
    ]),
  ]
}
