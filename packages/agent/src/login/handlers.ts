import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Chromium } from '../chromium/chromium.ts'
import type { AnswerRequest } from '../requests/answer.ts'
import { readJson } from '../requests/body.ts'
import { log } from '../log/log.ts'
import { BadRequest } from '../requests/bad-request.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { LoginBrowser } from './browser.ts'
import { BrowserGone } from './gone.ts'
import { isOfHosts } from './hosts.ts'
import {
  readActOrder,
  readLookOrder,
  readPasskeysOrder,
  readPhotoOrder,
  readSecrets,
  readStorageOrder,
  readVisitOrder,
} from './orders.ts'
import { replaceStorage } from './storage.ts'

const WRONG = 400
/** Chromium has ended or restarted. A separate status, because the next call may work. */
const GONE = 410
const FAILED = 500

export function loginHandlers(
  chromium: Chromium,
  secrets: Secrets,
  /** How many people watch the screen. */
  viewers: () => number,
): AnswerRequest {
  const browser = new LoginBrowser(chromium)

  const handle = async (request: IncomingMessage, signal: AbortSignal): Promise<object | undefined> => {
    const body = await readJson(request)
    switch (`${request.method} ${request.url}`) {
      case 'POST /login/look': {
        const order = readLookOrder(body)
        const { only_hosts: hosts } = order
        if (hosts) secrets.type()
        browser.mayLeaveTo = hosts && ((url) => viewers() === 0 || isOfHosts(url, hosts))
        return browser.look(order, signal)
      }
      case 'POST /login/visit':
        return browser.visit(readVisitOrder(body), signal)
      case 'POST /login/act': {
        const order = readActOrder(body)
        if (order.act === 'fill' || order.act === 'authenticate') secrets.type()
        return browser.act(order, signal)
      }
      case 'PUT /login/storage': {
        const order = readStorageOrder(body)
        // Cookies are as secret as passwords, and every request has them.
        secrets.type()
        return replaceStorage(chromium, order, signal)
      }
      case 'POST /login/passkeys':
        return browser.passkeys(readPasskeysOrder(body), signal)
      case 'POST /login/photo': {
        const order = readPhotoOrder(body)
        // The page's own text may repeat what was typed.
        return secrets.isTyped && !order.box ? { jpeg: null } : browser.photo(order, signal)
      }
      case 'PUT /login/secrets':
        secrets.add(readSecrets(body).values)
        return undefined
      default:
        throw new BadRequest(`Cannot ${request.method} ${request.url}`, 404)
    }
  }

  return async (request, response) => {
    const left = new AbortController()
    response.once('close', () => left.abort(new Error('The caller disconnected')))
    try {
      send(response, await handle(request, left.signal))
    } catch (error) {
      if (left.signal.aborted) return
      const status = error instanceof BadRequest ? error.status : error instanceof BrowserGone ? GONE : FAILED
      if (status > WRONG) log(`Cannot ${request.method} ${request.url}`, error)
      response.writeHead(status).end(JSON.stringify({ message: (error as Error).message }))
    }
  }
}

function send(response: ServerResponse, body: object | undefined): void {
  if (response.destroyed) return
  if (!body) return void response.writeHead(204).end()
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  response.writeHead(200, headers).end(text)
}
