// What answers requests over the link: each part of the agent makes one for the paths below its own.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export type AnswerUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void
