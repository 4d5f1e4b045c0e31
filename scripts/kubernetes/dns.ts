// Names of Services for Pods, as a cluster has them. Everything else does not exist here.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { decode, encode, AUTHORITATIVE_ANSWER, type Packet } from 'dns-packet'
import { API, MACHINE } from './addresses.ts'
import type { Authority } from './authority.ts'

const TTL_SECONDS = 5
const NO_SUCH_NAME = 3

export async function startDns(authority: Authority): Promise<void> {
  const { certificate, key } = authority.issue('dns', '/O=system:masters/CN=dns')
  const identity = {
    ca: readFileSync(authority.certificate),
    cert: readFileSync(certificate),
    key: readFileSync(key),
  }
  const socket = createSocket('udp4')
  socket.on('message', (message, { address, port }) => {
    answer(message, (path) => get(path, identity)).then(
      (reply) => socket.send(reply, port, address),
      (error: unknown) => console.error(`kubernetes: DNS cannot answer: ${String(error)}`),
    )
  })
  socket.bind(53, MACHINE)
  await once(socket, 'listening')
}

async function answer(message: Buffer, ask: (path: string) => Promise<unknown>): Promise<Buffer> {
  const { id = 0, questions = [] } = decode(message)
  const [question] = questions
  const found = question && (await addressOf(question.name, ask))
  const reply: Packet = {
    id,
    type: 'response',
    questions,
    flags: AUTHORITATIVE_ANSWER | (found ? 0 : NO_SUCH_NAME),
  }
  if (found && question.type === 'A') {
    reply.answers = [{ type: 'A', name: question.name, ttl: TTL_SECONDS, data: found }]
  }
  return encode(reply)
}

async function addressOf(name: string, ask: (path: string) => Promise<unknown>): Promise<string | undefined> {
  const [, service, namespace] = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.cluster\.local$/i.exec(name) ?? []
  if (service === undefined) return undefined
  const found = await ask(`/api/v1/namespaces/${namespace!.toLowerCase()}/services/${service.toLowerCase()}`)
  return (found as { spec?: { clusterIP?: string } }).spec?.clusterIP
}

function get(path: string, identity: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, API), { ...identity, timeout: 5_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.once('end', () => resolve(JSON.parse(text)))
    })
    sent.once('timeout', () => sent.destroy(new Error('the API does not answer')))
    sent.once('error', reject)
    sent.end()
  })
}
