// Connects what servers announce to each other with those who follow it.
import { changeKinds, followChanges, type ChangeKind } from '@berth/contracts/changes'
import { route, type Route } from '../../http/call.ts'
import { projectOf } from '../../http/principal.ts'
import type { Platform } from '../../platform/module.ts'
import { ChangeHub } from './hub.ts'
import type { ChangeSources } from './types.ts'

export interface Changes {
  readonly routes: readonly Route[]
  /** Ends all streams. */
  close(): void
}

export function newChanges(
  { db, changes, listener, metrics, log }: Platform,
  sources: ChangeSources,
): Changes {
  const hub = new ChangeHub({ db, listener, sources, log })
  changes.on('sessionChanged', ({ sessionId }) => hub.changed('browser', sessionId))
  changes.on('poolChanged', ({ poolId }) => hub.changed('browser_pool', poolId))
  changes.on('invocationChanged', ({ invocationId }) => hub.changed('invocation', invocationId))
  changes.on('connectionChanged', ({ connectionId }) => hub.changed('auth_connection', connectionId))
  changes.on('auditExportsChanged', () => hub.someChanged('audit_export'))
  changes.on('rowChanged', ({ kind, id, projectId }) => {
    if (isKind(kind)) hub.changed(kind, id, projectId || null)
  })
  changes.on('unknownChange', () => hub.everythingChanged())
  metrics.gauge({
    name: 'berth_change_readers',
    help: 'Clients that follow GET /changes on this server',
    read: () => hub.count,
  })
  return {
    routes: [
      route(followChanges, async (call) => ({
        body: await hub.follow(call.principal, projectOf(call), call.signal),
      })),
    ],
    close: () => hub.close(),
  }
}

function isKind(word: string): word is ChangeKind {
  return (changeKinds as readonly string[]).includes(word)
}
