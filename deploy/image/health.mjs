// Asks the server of this container whether it is alive, with the settings that the server has too.
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'

const TIMEOUT_MS = 4_000
const { BERTH_HOST = '', BERTH_PORT, BERTH_TLS_CERT } = process.env
const host = ['', '0.0.0.0', '::'].includes(BERTH_HOST) ? '127.0.0.1' : BERTH_HOST
// Its certificate is for the name that clients use, not for this address.
const [get, options] = BERTH_TLS_CERT ? [getHttps, { rejectUnauthorized: false }] : [getHttp, {}]

const request = get(
  { ...options, host, port: BERTH_PORT || 8080, path: '/health', timeout: TIMEOUT_MS },
  (response) => {
    response.resume()
    process.exitCode = response.statusCode === 200 ? 0 : 1
  },
)
request.once('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)))
request.once('error', (error) => {
  process.stderr.write(`berth: ${error.message}\n`)
  process.exitCode = 1
})
