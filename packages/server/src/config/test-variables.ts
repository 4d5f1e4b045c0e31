// Variables for our tests. They are not settings: only a process with NODE_ENV=test may have them.
// Any other server refuses to start with them.
export const testVariables = ['BERTH_CRASH_AT']

export const isTest = (env: NodeJS.ProcessEnv): boolean => env['NODE_ENV'] === 'test'

/** The named point at which a test wants this process to be killed. */
export const crashAt = isTest(process.env) ? process.env['BERTH_CRASH_AT'] : undefined
