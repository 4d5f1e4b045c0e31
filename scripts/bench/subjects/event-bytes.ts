// Reads a stream of output events without a client library, whose cost would hide ours. It still reads every byte.
import { request, type Agent, type IncomingMessage } from 'node:http'

export interface Output {
  readonly bytes: number
  readonly exitCode: number
}

interface Event {
  readonly data_b64?: string
  readonly event?: string
  readonly exit_code?: number
}

export function readOutput(url: string, agent: Agent): Promise<Output> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      if (response.statusCode === 200) collect(response).then(resolve, reject)
      else reject(new Error(`Cannot read the output: status ${response.statusCode}`))
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function collect(response: IncomingMessage): Promise<Output> {
  let bytes = 0
  let exitCode = -1
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n', from)) {
      const event = text.toString('latin1', from, end)
      from = end + 2
      if (!event.startsWith('data: ')) continue
      const { data_b64, event: name, exit_code } = JSON.parse(event.slice(6)) as Event
      if (data_b64 !== undefined) bytes += Buffer.from(data_b64, 'base64').length
      if (name === 'exit') exitCode = exit_code!
    }
    rest = text.subarray(from)
  }
  return { bytes, exitCode }
}
