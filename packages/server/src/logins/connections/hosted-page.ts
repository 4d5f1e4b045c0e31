// The page for the person who logs in. It is the same for every flow: the page reads the flow from its own URL,
// whose secret part is never sent to the server.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fileNames, PageFiles } from '../../http/page-files.ts'
import { HOSTED_PATH } from './links.ts'

const hostedPage = new PageFiles({
  name: 'hosted-login',
  path: HOSTED_PATH,
  what: 'sign-in page',
})

/** Allows only its own files and server, which also serves the live view; nobody may put it into a frame. */
const headers = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
}

export function attachHostedPage(server: FastifyInstance): void {
  const page = `${HOSTED_PATH}/:id`
  server.get(page, { onRequest: named(page) }, async (_request, reply) => {
    const { html } = await hostedPage.page()
    return reply.headers(headers).type('text/html; charset=utf-8').send(html)
  })
  for (const name of fileNames) {
    const url = `${HOSTED_PATH}/${name}`
    server.get(url, { onRequest: named(url) }, (request, reply) => hostedPage.send(name, request, reply))
  }
}

/** For log and metrics, which use a request's route and never its URL. */
const named = (url: string) => (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
  request.route = url
  done()
}
