import { dirname } from 'node:path'
import { API_PORT, instancePaths } from '@berth/contracts/link'
import { programEnvironment } from '../../control/processes/environment.ts'
import type { Settings } from '../../instance/settings.ts'
import { hasAppUid } from '../../user/user.ts'
import type { Places } from './places.ts'
import { pathExists } from '../../user/path-exists.ts'

/** The certificates that this machine trusts, including those of its operator, for example for a private registry. */
const TRUSTED = '/etc/ssl/certs/ca-certificates.crt'

/** The variables of every program of an app. Node's fetch uses the proxy only with NODE_USE_ENV_PROXY. */
export function baseEnvironment(settings: Settings): Record<string, string> {
  const environment = programEnvironment(settings, undefined)
  return {
    ...environment,
    PATH: `${dirname(instancePaths.node)}:${environment['PATH'] ?? '/usr/bin:/bin'}`,
    TMPDIR: settings.temporary,
    NODE_USE_ENV_PROXY: '1',
    // Other programs read that file by default.
    ...(pathExists(TRUSTED) && { NODE_EXTRA_CA_CERTS: TRUSTED }),
  }
}

/** The variables of the app itself. Ours override those of the user. */
export function appEnvironment(
  settings: Settings,
  { pythonPackages, root }: Places,
  env: Readonly<Record<string, string>>,
  { isInvocation }: { isInvocation: boolean },
): Record<string, string> {
  return {
    ...baseEnvironment(settings),
    // It could not write to the other.
    ...(isInvocation && hasAppUid() && { HOME: instancePaths.appHome }),
    NODE_ENV: 'production',
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    ...env,
    PYTHONPATH: [env['PYTHONPATH'], root, pythonPackages].filter(Boolean).join(':'),
    KERNEL_BASE_URL: `http://127.0.0.1:${API_PORT}`,
  }
}
