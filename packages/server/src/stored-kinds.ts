// Everything a project stores, with the query for its bytes.
import { deploymentBytes } from './apps/deployments/store.ts'
import { extensionBytes } from './sessions/extensions/store.ts'
import { profileBytes } from './sessions/profiles/store.ts'
import { replayBytes } from './sessions/replays/store.ts'
import { telemetryBytes } from './sessions/telemetry/store.ts'
import type { StoredKind } from './tenancy/storage/store.ts'

export const storedKinds: readonly StoredKind[] = [
  { kind: 'profiles', bytes: profileBytes },
  { kind: 'replays', bytes: replayBytes },
  { kind: 'telemetry', bytes: telemetryBytes },
  { kind: 'extensions', bytes: extensionBytes },
  { kind: 'deployments', bytes: deploymentBytes },
]
