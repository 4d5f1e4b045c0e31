// Named places where a test may kill the process, to see that nothing is left half-done.
// Outside of tests this does nothing, and the server refuses to start with BERTH_CRASH_AT.
import { crashAt } from '../../config/test-variables.ts'

export function crashPoint(name: string): void {
  if (crashAt === name) process.kill(process.pid, 'SIGKILL')
}
