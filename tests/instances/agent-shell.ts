// Commands inside an instance with the real agent, whichever driver made it.
import { AgentClient } from '@berth/server/instances/agent/client'
import type { Instance } from '@berth/server/instances/driver/driver'
import type { Owner } from '../fixtures/cleanup.ts'

interface Executed {
  readonly exit_code: number
  readonly stdout_b64: string
  readonly stderr_b64: string
}

const decode = (text: string) => Buffer.from(text, 'base64').toString().trim()

export async function shell(owner: Owner, instance: Instance, script: string) {
  const agent = new AgentClient(instance)
  owner.after(() => agent.close())
  const answer = await agent.call({
    purpose: 'work',
    method: 'POST',
    path: '/control/process/exec',
    json: { command: 'sh', args: ['-c', script], timeout_sec: 25 },
    timeoutMs: 30_000,
  })
  const { exit_code, stdout_b64, stderr_b64 } = JSON.parse(answer.toString()) as Executed
  return { code: exit_code, stdout: decode(stdout_b64), stderr: decode(stderr_b64) }
}

/** What a program in the instance gets when it connects there: `reached`, or the code of the error. */
export async function reach(owner: Owner, instance: Instance, host: string, port: number): Promise<string> {
  const program = `const socket = require("net").connect({ host: "${host}", port: ${port}, timeout: 3000 })
    const say = (word) => { console.log(word); process.exit() }
    socket.on("connect", () => say("reached")).on("timeout", () => say("timeout")).on("error", ({ code }) => say(code))`
  const { stdout } = await shell(owner, instance, `/run/berth-agent/node -e '${program}'`)
  return stdout
}

/** The brackets keep the shell itself out of the list: it would end before it has killed the others. */
const KILL_AGENT = `kill -9 $(grep -l '[a]gent.mjs' /proc/[0-9]*/cmdline | cut -d/ -f3)`

/** Of an instance whose programs have the user of the agent. The call itself has no answer then. */
export async function killAgent(owner: Owner, instance: Instance): Promise<void> {
  await shell(owner, instance, KILL_AGENT).catch(() => {})
}
