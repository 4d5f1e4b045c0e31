// An agent with a Chromium, and a website for it: pages of the test by their paths, at as many hosts as wanted.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type {
  ActOrder,
  ActResult,
  ElementSight,
  LookOrder,
  PageSight,
  VisitOrder,
} from '@berth/contracts/login-sight'
import { AgentUnderTest, HEADLESS, type Owner } from '../../testing/agent-under-test.ts'

export type Page = string | ((request: IncomingMessage, response: ServerResponse) => void)

export class LoginUnderTest {
  readonly agent: AgentUnderTest
  readonly port: number
  /** By path, without what follows a question mark. */
  readonly pages: Record<string, Page>

  private constructor(agent: AgentUnderTest, port: number, pages: Record<string, Page>) {
    this.agent = agent
    this.port = port
    this.pages = pages
  }

  static async start(
    t: Owner,
    given: Record<string, Page> = {},
    { browser = HEADLESS }: { browser?: typeof HEADLESS } = {},
  ): Promise<LoginUnderTest> {
    const pages = { ...given }
    const server = createServer((request, response) => {
      const page = pages[request.url!.split('?', 1)[0]!]
      if (page === undefined) return void response.writeHead(404).end('There is nothing')
      if (typeof page === 'function') return page(request, response)
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(`<!doctype html>${page}`)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(async () => {
      server.close()
      server.closeAllConnections()
    })
    const agent = await AgentUnderTest.start(t, { browser, leaseSeconds: 600, hasOwnTmp: !browser.headless })
    await agent.ready()
    return new LoginUnderTest(agent, (server.address() as AddressInfo).port, pages)
  }

  url(path: string, host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`
  }

  look(order: Partial<LookOrder> = {}): Promise<PageSight> {
    return this.#ask('look', { quiet_ms: 300, most_ms: 10_000, ...order })
  }

  visit(path: string, order: Partial<VisitOrder> = {}): Promise<PageSight> {
    const url = path.startsWith('/') ? this.url(path) : path
    return this.#ask('visit', { url, aside: false, quiet_ms: 300, most_ms: 10_000, ...order })
  }

  act(order: ActOrder): Promise<ActResult> {
    return this.#ask('act', order)
  }

  fill(
    refs: string | readonly string[],
    value: string,
    hosts = ['127.0.0.1', 'localhost'],
  ): Promise<ActResult> {
    return this.act({ act: 'fill', refs: [refs].flat(), value, hosts })
  }

  click(ref: string): Promise<ActResult> {
    return this.act({ act: 'click', refs: [ref] })
  }

  async hide(...values: string[]): Promise<void> {
    const { status } = await this.agent.call('PUT', '/login/secrets', { values })
    if (status !== 204) throw new Error(`The agent answered ${status}`)
  }

  async #ask<T>(name: string, body: object): Promise<T> {
    const { status, body: answer } = await this.agent.call('POST', `/login/${name}`, body)
    if (status !== 200) throw new Error(`The agent answered ${status} to ${name}: ${JSON.stringify(answer)}`)
    return answer as T
  }
}

/** The one element of which it is true. */
export function one(sight: PageSight, isIt: (element: ElementSight) => boolean): ElementSight {
  const found = sight.elements.filter(isIt)
  if (found.length !== 1) {
    throw new Error(`There are ${found.length} of ${sight.elements.length} elements: ${isIt.toString()}`)
  }
  return found[0]!
}

export const named = (sight: PageSight, name: string) => one(sight, (element) => element.name === name)
export const saying = (sight: PageSight, text: string) => one(sight, (element) => element.text === text)
