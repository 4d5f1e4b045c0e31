// Named places where a test may kill the process, to see that nothing is left half-done.
// Outside of tests this does nothing: config.ts refuses BERTH_CRASH_AT there.
const target = process.env['NODE_ENV'] === 'test' ? process.env['BERTH_CRASH_AT'] : undefined

export function crashPoint(name: string): void {
  if (target === name) process.kill(process.pid, 'SIGKILL')
}
