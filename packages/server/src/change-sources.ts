// What those who follow changes need to know from the rooms that own the rows.
import { rowProjects } from './platform/database/row-projects.ts'
import { liveBrowserStates } from './sessions/browsers/store.ts'
import { liveReplayStates } from './sessions/replays/store.ts'
import type { ChangeSources } from './tenancy/changes/types.ts'

export const changeSources: ChangeSources = {
  projectsOf: {
    browser: rowProjects('browsers'),
    browser_pool: rowProjects('browser_pools'),
    invocation: rowProjects('invocations'),
    auth_connection: rowProjects('auth_connections'),
  },
  live: [
    async (db) => (await liveBrowserStates(db)).map((row) => ({ kind: 'browser', ...row })),
    async (db) => (await liveReplayStates(db)).map((row) => ({ kind: 'replay', ...row })),
  ],
}
