import { foundation } from './001-foundation.ts'
import { browsers } from './002-browsers.ts'
import { replicas } from './003-replicas.ts'
import { replays } from './004-replays.ts'
import { telemetry } from './005-telemetry.ts'
import { profiles } from './006-profiles.ts'
import { extensions } from './007-extensions.ts'
import { proxies } from './008-proxies.ts'
import { pools } from './009-pools.ts'
import { apps } from './010-apps.ts'
import { credentials } from './011-credentials.ts'
import { authConnections } from './012-auth-connections.ts'
import { sessionStates } from './013-session-states.ts'
import { loginStates } from './014-login-states.ts'
import { keyScopes } from './015-key-scopes.ts'
import { leaseKeys } from './016-lease-keys.ts'
import { resetOnRelease } from './017-reset-on-release.ts'
import { secretPlaces } from './018-secret-places.ts'
import { links } from './019-links.ts'
import { storage } from './020-storage.ts'
import { networks } from './021-networks.ts'
import { loginBrowsers } from './022-login-browsers.ts'
import { auditExports } from './023-audit-exports.ts'
import { telemetryExport } from './024-telemetry-export.ts'
import { blobStores } from './025-blob-stores.ts'
import { room } from './026-room.ts'
import { signIns } from './027-sign-ins.ts'
import { changes } from './028-changes.ts'
import { webhooks } from './029-webhooks.ts'
import { handovers } from './030-handovers.ts'
import { webhookLimits } from './031-webhook-limits.ts'
import { sealedHandovers } from './032-sealed-handovers.ts'
import { deepStandby } from './033-deep-standby.ts'
import { recordedSound } from './034-recorded-sound.ts'
import { sessionImports } from './035-session-imports.ts'
import { passkeys } from './036-passkeys.ts'
import { loginSteps } from './037-login-steps.ts'
import { mailboxes } from './038-mailboxes.ts'
import { captchaSolvers } from './039-captcha-solvers.ts'
import { newestOfAll } from './040-newest-of-all.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** In order. Never edit a released migration; add another one. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'foundation', sql: foundation },
  { version: 2, name: 'browsers', sql: browsers },
  { version: 3, name: 'replicas', sql: replicas },
  { version: 4, name: 'replays', sql: replays },
  { version: 5, name: 'telemetry', sql: telemetry },
  { version: 6, name: 'profiles', sql: profiles },
  { version: 7, name: 'extensions', sql: extensions },
  { version: 8, name: 'proxies', sql: proxies },
  { version: 9, name: 'pools', sql: pools },
  { version: 10, name: 'apps', sql: apps },
  { version: 11, name: 'credentials', sql: credentials },
  { version: 12, name: 'auth-connections', sql: authConnections },
  { version: 13, name: 'session-states', sql: sessionStates },
  { version: 14, name: 'login-states', sql: loginStates },
  { version: 15, name: 'key-scopes', sql: keyScopes },
  { version: 16, name: 'lease-keys', sql: leaseKeys },
  { version: 17, name: 'reset-on-release', sql: resetOnRelease },
  { version: 18, name: 'secret-places', sql: secretPlaces },
  { version: 19, name: 'links', sql: links },
  { version: 20, name: 'storage', sql: storage },
  { version: 21, name: 'networks', sql: networks },
  { version: 22, name: 'login-browsers', sql: loginBrowsers },
  { version: 23, name: 'audit-exports', sql: auditExports },
  { version: 24, name: 'telemetry-export', sql: telemetryExport },
  { version: 25, name: 'blob-stores', sql: blobStores },
  { version: 26, name: 'room', sql: room },
  { version: 27, name: 'sign-ins', sql: signIns },
  { version: 28, name: 'changes', sql: changes },
  { version: 29, name: 'webhooks', sql: webhooks },
  { version: 30, name: 'handovers', sql: handovers },
  { version: 31, name: 'webhook-limits', sql: webhookLimits },
  { version: 32, name: 'sealed-handovers', sql: sealedHandovers },
  { version: 33, name: 'deep-standby', sql: deepStandby },
  { version: 34, name: 'recorded-sound', sql: recordedSound },
  { version: 35, name: 'session-imports', sql: sessionImports },
  { version: 36, name: 'passkeys', sql: passkeys },
  { version: 37, name: 'login-steps', sql: loginSteps },
  { version: 38, name: 'mailboxes', sql: mailboxes },
  { version: 39, name: 'captcha-solvers', sql: captchaSolvers },
  { version: 40, name: 'newest-of-all', sql: newestOfAll },
]
