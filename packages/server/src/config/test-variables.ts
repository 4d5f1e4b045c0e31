// Variables of our tests. They are no settings: only a process that says it is a test may have them.
// Everywhere else the server refuses to start with them.
export const testVariables = ['BERTH_CRASH_AT']

export const isTest = (env: NodeJS.ProcessEnv): boolean => env['NODE_ENV'] === 'test'

/** The named place at which a test wants this process killed. */
export const crashAt = isTest(process.env) ? process.env['BERTH_CRASH_AT'] : undefined
