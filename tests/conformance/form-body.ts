// Encodes a multipart form.
import type { Exchange } from './http-exchange.ts'

export type FormParts = Readonly<Record<string, string | Buffer>>

export function formBody(parts: FormParts): Required<Pick<Exchange, 'headers' | 'body'>> {
  const boundary = 'of-a-stranger'
  const pieces = Object.entries(parts).flatMap(([name, value]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ])
  return {
    headers: [['Content-Type', `multipart/form-data; boundary=${boundary}`]],
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
  }
}
