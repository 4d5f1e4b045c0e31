import { serviceLogNames } from '@berth/contracts/logs'
import { ControlError, type ControlOperation } from '../calls/operation.ts'
import { FileLog } from './file-log.ts'
import type { ReadOptions, ServiceLogs } from '../../log/service-log.ts'

export function logOperations({ logs }: { logs: ServiceLogs }): ControlOperation[] {
  return [
    {
      method: 'GET',
      path: '/logs/stream',
      handle: ({ query, signal }) => {
        const follow = query.get('follow') !== 'false'
        const events =
          query.get('source') === 'path'
            ? fileEvents(given(query, 'path'), { follow, signal })
            : serviceEvents(logs, given(query, 'supervisor_process'), { follow, signal })
        return { events }
      },
    },
  ]
}

function given(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value !== null) return value
  throw new ControlError('bad_request', `Cannot choose the log: "${name}" is needed for this source`)
}

function fileEvents(path: string, options: ReadOptions): AsyncIterable<object> {
  const file = new FileLog(path, { fromEnd: options.follow })
  // A caller that leaves at once never starts to read, so read() would not close the file.
  options.signal.addEventListener('abort', () => file.close(), { once: true })
  return (async function* () {
    for await (const message of file.read(options)) yield toEvent(new Date(), message)
  })()
}

async function* serviceEvents(logs: ServiceLogs, asked: string, options: ReadOptions): AsyncIterable<object> {
  const name = serviceLogNames.find((each) => each === asked)
  if (name === undefined) {
    const known = serviceLogNames.join(', ')
    yield toEvent(new Date(), `[berth: no program here is called "${asked}"; there are ${known}]`)
    return
  }
  for await (const { at, message } of logs[name].read(options)) yield toEvent(at, message)
}

const toEvent = (at: Date, message: string) => ({ event: 'log', timestamp: at.toISOString(), message })
