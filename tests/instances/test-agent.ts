// Replaces the agent in tests: it answers the server and ends with its lease. What a test asks for runs in a second
// process, as the tenant; when that process ends, so does the instance.
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createLink } from 'node:net'
import { createRequire } from 'node:module'
import { handOver, instancePaths, LINK_DESCRIPTOR, type AgentStart } from '@berth/contracts/link'
import { loadNativeCalls } from '../../packages/agent/src/user/native-calls.ts'
import { keepOwnUid } from '../../packages/agent/src/user/own-uid.ts'

interface Answer {
  readonly number: number
  readonly text: string
}

const [program, startText, role] = process.argv.slice(1) as [string, string, string?]
// SAFETY: the driver writes it.
const start = JSON.parse(startText) as AgentStart
if (role === 'tenant') beTenant()
else beAgent()

function beTenant(): void {
  // SAFETY: the constructor of async functions has no name.
  const AsyncFunction = (async () => {}).constructor as new (
    ...words: string[]
  ) => (require: NodeJS.Require) => Promise<unknown>
  process.on('disconnect', () => process.exit(1))
  const run = async ({ number, text }: Answer) => {
    const say = (answer: object) => process.send!({ number, text: JSON.stringify(answer) })
    try {
      const result: unknown = await new AsyncFunction('require', text)(createRequire('file:///'))
      say({ result })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      say({ error: code ?? message })
    }
  }
  process.on('message', (asked: Answer) => void run(asked))
}

function beAgent(): void {
  const user = start.uids?.user
  if (user !== undefined) {
    const directories = [instancePaths.home, instancePaths.policies, '/var']
    const calls = loadNativeCalls(instancePaths.nativeCalls)
    keepOwnUid({ user, directories, calls, hasNetwork: start.hasNetwork ?? false })
  }
  const tenant = spawn(process.execPath, [program, startText, 'tenant'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(user !== undefined && { uid: user, gid: user }),
  })
  tenant.once('exit', (code) => process.exit(code ?? 1))

  let lease: NodeJS.Timeout | undefined
  const renew = () => {
    clearTimeout(lease)
    lease = setTimeout(() => process.exit(0), start.leaseSeconds * 1000)
  }
  // Starting two programs can take long.
  tenant.once('spawn', renew)

  let last = 0
  const waiting = new Map<number, (text: string) => void>()
  tenant.on('message', ({ number, text }: Answer) => {
    waiting.get(number)?.(text)
    waiting.delete(number)
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    renew()
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const number = ++last
    waiting.set(number, (result) => {
      renew()
      response.end(result)
    })
    tenant.send({ number, text })
  }
  const api = createServer((request, response) => void answer(request, response))

  const link = createLink((socket) => {
    socket.on('error', () => {})
    socket.once('data', (chunk: Buffer) => {
      const end = chunk.indexOf('\n')
      const purpose = chunk.toString('utf8', 0, end)
      if (chunk.length > end + 1) socket.unshift(chunk.subarray(end + 1))
      if (purpose === 'api') api.emit('connection', socket)
      else if (purpose.startsWith(handOver.give)) socket.end(`${handOver.cannot}\n`)
      // Anything else comes back as it is.
      else socket.pipe(socket)
    })
  })
  link.listen({ fd: LINK_DESCRIPTOR })
}
