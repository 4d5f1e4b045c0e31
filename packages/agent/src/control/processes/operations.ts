import { OUTPUT_FRAMES_TYPE } from '@berth/contracts/link'
import { checked } from '../../checks/check.ts'
import { ControlError, type ControlOperation } from '../calls/operation.ts'
import { exec } from './exec.ts'
import type { Pipes } from './pipes.ts'
import { checks } from './processes.checks.ts'
import type { Processes } from './processes.ts'
import { toProgram, type Surroundings } from './program.ts'
import type { TerminalSize } from './terminal.ts'

const USUAL_SIZE: TerminalSize = { rows: 24, cols: 80 }

export interface ProcessOperationsOptions {
  readonly pipes: Pipes
  readonly processes: Processes
  /** A function, because a display may be added later. */
  readonly surroundings: () => Surroundings
}

export function processOperations({
  pipes,
  processes,
  surroundings,
}: ProcessOperationsOptions): ControlOperation[] {
  const find = (params: Readonly<Record<string, string>>) => processes.get(params['process_id']!)
  return [
    {
      method: 'POST',
      path: '/process/exec',
      handle: ({ body, signal }) => {
        const asked = checked(checks.execProcess, body)
        const timeoutSeconds = asked.timeout_sec ?? 0
        return exec(toProgram(asked, surroundings()), { pipes, timeoutSeconds, signal })
      },
    },
    {
      method: 'POST',
      path: '/process/spawn',
      handle: async ({ body, signal }) => {
        const { allocate_tty: hasTerminal, rows, cols, ...asked } = checked(checks.spawnProcess, body)
        const process = await processes.spawn(toProgram(asked, surroundings()), {
          timeoutSeconds: asked.timeout_sec ?? 0,
          terminal: hasTerminal
            ? { rows: rows ?? USUAL_SIZE.rows, cols: cols ?? USUAL_SIZE.cols }
            : undefined,
        })
        // The caller left before it got the id, so nobody could ever use the process.
        if (signal.aborted) process.kill('KILL')
        return { process_id: process.id, pid: process.pid, started_at: process.startedAt.toISOString() }
      },
    },
    {
      method: 'GET',
      path: '/process/{process_id}/status',
      handle: ({ params }) => find(params).status(),
    },
    {
      method: 'POST',
      path: '/process/{process_id}/stdin',
      handle: async ({ params, body }) => {
        const { data_b64: text, close: andClose } = checked(checks.writeProcessStdin, body)
        const data = fromBase64(text)
        await find(params).write(data, { andClose: andClose ?? false })
        return { written_bytes: data.length }
      },
    },
    {
      method: 'POST',
      path: '/process/{process_id}/kill',
      handle: ({ params, body }) => {
        const { signal = 'TERM' } = checked(checks.killProcess, body ?? {})
        find(params).kill(signal)
        return { ok: true }
      },
    },
    {
      method: 'POST',
      path: '/process/{process_id}/resize',
      handle: async ({ params, body }) => {
        const size = checked(checks.resizeProcess, body)
        await find(params).resize(size)
        return { ok: true }
      },
    },
    {
      method: 'GET',
      path: '/process/{process_id}/stdout/stream',
      handle: ({ params }) => ({
        bytes: find(params).output(),
        areSpent: true,
        contentType: OUTPUT_FRAMES_TYPE,
      }),
    },
  ]
}

/** Node's decoder accepts anything and skips invalid characters, so the text is checked first. */
function fromBase64(text: string): Buffer {
  const data = Buffer.from(text, 'base64')
  if (data.toString('base64') === text) return data
  throw new ControlError('bad_request', 'Cannot write data_b64: it is not base 64, with its padding')
}
