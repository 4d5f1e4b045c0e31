// The controls of the agent over HTTP, in the process of the test: what they do to files needs no instance.
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileOperations } from '../control/files/operations.ts'
import { controlRouter } from '../control/router.ts'

export interface ControlAnswer {
  readonly status: number
  readonly body: Buffer
  /** Of a refusal. */
  readonly code: string | undefined
  readonly message: string
}

export interface ControlUnderTest {
  readonly url: string
  /** Of the test's own. */
  readonly directory: string
  readonly send: (method: string, path: string, init?: RequestInit) => Promise<ControlAnswer>
}

export async function startControl(): Promise<ControlUnderTest> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-control-'))
  const answerControl = controlRouter({ operations: fileOperations, spool: directory, onAnswer: () => {} })
  const server = createServer((request, response) => void answerControl(request, response)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/control`
  return { url, directory, send: (method, path, init) => send(url + path, { ...init, method }) }
}

async function send(url: string, init: RequestInit): Promise<ControlAnswer> {
  const answer = await fetch(url, init)
  const body = Buffer.from(await answer.arrayBuffer())
  const isJson = answer.headers.get('content-type') === 'application/json'
  const { code, message = '' } = (isJson ? JSON.parse(body.toString()) : {}) as {
    code?: string
    message?: string
  }
  return { status: answer.status, body, code, message }
}

/** Everything below a directory, hidden files too. */
export function everythingIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
}
