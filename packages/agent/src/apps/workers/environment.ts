import { dirname } from 'node:path'
import { API_PORT, instancePaths } from '@berth/contracts/link'
import { programEnvironment } from '../../control/processes/environment.ts'
import type { Settings } from '../../instance/settings.ts'
import { hasAppUid } from '../../user/user.ts'
import type { Places } from './places.ts'
import { pathExists } from '../../user/path-exists.ts'

/** Whom this machine trusts, with what its operator added: a registry may have a certificate of the house. */
const TRUSTED = '/etc/ssl/certs/ca-certificates.crt'

/** What any program of an app has; Node's own fetch takes the way out only when told to. */
export function baseEnvironment(settings: Settings): Record<string, string> {
  const environment = programEnvironment(settings, undefined)
  return {
    ...environment,
    PATH: `${dirname(instancePaths.node)}:${environment['PATH'] ?? '/usr/bin:/bin'}`,
    TMPDIR: settings.temporary,
    NODE_USE_ENV_PROXY: '1',
    // Others look there by themselves.
    ...(pathExists(TRUSTED) && { NODE_EXTRA_CA_CERTS: TRUSTED }),
  }
}

/** Of the app itself. What is ours wins over what the user chose. */
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
