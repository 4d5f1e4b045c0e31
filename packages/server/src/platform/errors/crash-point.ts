// Named points where a test may kill the process, to check that nothing stays half done.
// Outside of tests this does nothing: the server refuses to start with BERTH_CRASH_AT.
import { crashAt } from '../../config/test-variables.ts'

export function crashPoint(name: string): void {
  if (crashAt === name) process.kill(process.pid, 'SIGKILL')
}
