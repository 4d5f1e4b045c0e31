/** Of this process, for programs that are to have the same. */
export const environment: NodeJS.ProcessEnv = process.env
