// Malformed requests, each with its expected outcome.
import type { ErrorCode } from '@berth/contracts/errors'

export interface MalformedRequest {
  readonly what: string
  readonly bytes: string
  readonly expected: ErrorCode | readonly ErrorCode[]
  /** If the end of a request is ambiguous, the server must not read another one from that connection. */
  readonly isLast: boolean
}

const CHUNK = '4\r\n{"a"\r\n0\r\n\r\n'
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'

export function malformedRequests(options: {
  host: string
  key: string
  projectId: string
}): MalformedRequest[] {
  const { host, key, projectId } = options
  const own = [`Host: ${host}`, `Authorization: Bearer ${key}`]
  const post = (headers: string[], body: string) =>
    lines('POST /org/projects HTTP/1.1', ...own, 'Content-Type: application/json', ...headers) + body
  const get = (...headers: string[]) => lines('GET /org/limits HTTP/1.1', ...own, ...headers)
  const byHost = (...hosts: string[]) =>
    lines('GET /org/limits HTTP/1.1', ...hosts.map((name) => `Host: ${name}`), own[1]!)
  const at = (target: string) => lines(`GET ${target} HTTP/1.1`, ...own)
  const last = (what: string, bytes: string, expected: MalformedRequest['expected'] = 'bad_request') => ({
    what,
    bytes,
    expected,
    isLast: true,
  })
  const refused = (what: string, bytes: string, expected: MalformedRequest['expected'] = 'bad_request') => ({
    what,
    bytes,
    expected,
    isLast: false,
  })
  const where = ['bad_request', 'not_found'] as const

  return [
    last(
      'Content-Length and Transfer-Encoding',
      post(['Content-Length: 4', 'Transfer-Encoding: chunked'], CHUNK),
    ),
    last(
      'Transfer-Encoding and Content-Length',
      post(['Transfer-Encoding: chunked', 'Content-Length: 4'], CHUNK + SMUGGLED),
    ),
    last('Transfer-Encoding: xchunked', post(['Transfer-Encoding: xchunked'], CHUNK)),
    last('Transfer-Encoding: chunked, identity', post(['Transfer-Encoding: chunked, identity'], CHUNK)),
    last('Transfer-Encoding: identity', post(['Transfer-Encoding: identity'], CHUNK)),
    last(
      'Transfer-Encoding twice',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], CHUNK),
    ),
    last('a space before the colon', post(['Transfer-Encoding : chunked'], CHUNK)),
    last('two lengths', post(['Content-Length: 2', 'Content-Length: 60'], `{}${SMUGGLED}`)),
    last('two lengths in one', post(['Content-Length: 2, 60'], `{}${SMUGGLED}`)),
    last('a negative length', post(['Content-Length: -1'], '{}')),
    last('a length with a sign', post(['Content-Length: +2'], '{}')),
    last('a hexadecimal length', post(['Content-Length: 0x2'], '{}')),
    last('a length that is too large for a number', post([`Content-Length: 1${'0'.repeat(30)}`], '{}')),
    last('an empty length', post(['Content-Length:'], '{}')),
    last('a folded header', get('X-Folded: one', ' two')),
    last('a header folded into the length', post(['Content-Length: 2', '\t60'], `{}${SMUGGLED}`)),
    last('a chunk size that is not a number', post(['Transfer-Encoding: chunked'], 'xyz\r\n{}\r\n0\r\n\r\n')),
    last('a negative chunk size', post(['Transfer-Encoding: chunked'], '-2\r\n{}\r\n0\r\n\r\n')),
    last(
      'a chunk size that is too large for a number',
      post(['Transfer-Encoding: chunked'], `${'f'.repeat(17)}\r\n{}\r\n0\r\n\r\n`),
    ),
    last(
      'a chunk longer than its size',
      post(['Transfer-Encoding: chunked'], '2\r\n{"name":"x"}\r\n0\r\n\r\n'),
    ),
    last('an empty chunk size', post(['Transfer-Encoding: chunked'], '\r\n{}\r\n0\r\n\r\n')),
    last('a chunk size after a space', post(['Transfer-Encoding: chunked'], ' 2\r\n{}\r\n0\r\n\r\n')),
    last('a chunk with a bare line feed', post(['Transfer-Encoding: chunked'], '2\n{}\n0\n\n')),
    last(
      'a chunk extension of 64 KB',
      post(['Transfer-Encoding: chunked'], `2;${'x'.repeat(65_536)}\r\n{}\r\n0\r\n\r\n`),
      ['bad_request', 'payload_too_large'],
    ),
    last('a header without a colon', get('Nonsense')),
    last('a header without a name', get(': x')),
    last('a header name with a space', get('X Y: z')),
    last('a NUL in a header', get('X-Nul: a\0b')),
    last('a bare carriage return in a header', get('X-Return: a\rb: c')),
    last('a control character in a header', get('X-Bell: \x07')),
    last('64 KB of one header', get(`X-Long: ${'x'.repeat(65_536)}`), 'headers_too_large'),
    last('64 KB of many headers', get(...Array(1000).fill(`X-Many: ${'x'.repeat(56)}`)), 'headers_too_large'),
    last('64 KB of path', at(`/org/projects/${'x'.repeat(65_536)}`), 'headers_too_large'),

    refused('no Host', lines('GET /org/limits HTTP/1.1', own[1]!)),
    refused('no Host, in HTTP/1.0', lines('GET /org/limits HTTP/1.0', own[1]!)),
    refused('an empty Host', byHost('')),
    refused('two Hosts, the second evil', byHost(host, 'evil.example')),
    refused('two Hosts, the first evil', byHost('evil.example', host)),
    refused('two Hosts, the same', byHost(host, host)),
    refused('a Host with a path', byHost(`${host}/x`)),
    refused('a Host with a user', byHost(`x@${host}`)),
    refused('a Host of two words', byHost(`${host} evil.example`)),
    refused('an evil Host', byHost('evil.example'), 'misdirected_request'),
    refused(
      'an evil Host with our port',
      byHost(`evil.example:${host.split(':')[1]}`),
      'misdirected_request',
    ),
    refused('a Host that begins like ours', byHost('127.0.0.1.evil.example'), 'misdirected_request'),
    refused('a Host that ends almost like ours', byHost('evillocalhost'), 'misdirected_request'),
    refused('the Host of a metadata service', byHost('169.254.169.254'), 'misdirected_request'),
    refused(
      'an evil Host on an open path',
      lines('GET /health HTTP/1.1', 'Host: evil.example'),
      'misdirected_request',
    ),
    refused(
      'an evil Host on an unknown path',
      lines('GET /json HTTP/1.1', 'Host: evil.example'),
      'misdirected_request',
    ),
    refused('an evil Host on a broken path', lines('GET /% HTTP/1.1', 'Host: evil.example'), [
      'bad_request',
      'misdirected_request',
    ]),
    refused('an evil host in the target', at('http://evil.example/org/limits'), [
      'bad_request',
      'misdirected_request',
    ]),

    last('an unknown method', lines('FOO / HTTP/1.1', ...own)),
    last('a method in lower case', lines('get /org/limits HTTP/1.1', ...own)),
    last('an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    last('HTTP/9.9', lines('GET /org/limits HTTP/9.9', ...own)),
    last('no version', 'GET /org/limits\r\n\r\n'),
    last('another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'),
    last('a TLS greeting', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'),
    last('only zeros', '\0'.repeat(64)),
    last('a NUL in the path', at('/org/projects/a\0b')),
    last('a space in the path', at('/org/projects/a b')),

    refused('an encoded NUL', at('/org/projects/%00')),
    refused('an encoded NUL in a name', at('/org/projects/Default%00')),
    refused('an encoded new line', at('/org/api_keys/a%0Ab')),
    refused('a broken escape', at('/org/projects/%')),
    refused('a broken escape of two', at('/org/projects/%zz')),
    refused('an overlong dot', at('/org/projects/%c0%ae%c0%ae')),
    refused('an encoded surrogate', at('/org/projects/%ed%a0%80')),
    refused('encoded dots', at('/org/projects/%2e%2e'), where),
    refused('encoded dots and a slash', at('/org/projects/..%2flimits'), where),
    refused('dots', at('/org/projects/../limits'), where),
    refused('a path out of the root', at('/../../../../etc/passwd'), where),
    refused('backslashes', at('/org/projects/..\\..\\x'), where),
    refused('an id with a slash', at('/org/projects/..%2F..%2Fx'), where),
    refused('an id of 10 KB', at(`/org/projects/${'x'.repeat(10_240)}`), where),
    refused('a key id of 10 KB', at(`/org/api_keys/${'x'.repeat(10_240)}`), where),
    refused('an id of 300 characters', at(`/org/projects/${'x'.repeat(300)}`)),
    refused(
      'an id with a Cyrillic letter',
      at(`/org/projects/${encodeURIComponent(projectId.replace('p', 'р'))}`),
      where,
    ),
    refused('an id in full-width letters', at(`/org/projects/${encodeURIComponent(wide(projectId))}`), where),
    refused('an id in upper case', at(`/org/projects/${projectId.toUpperCase()}`), where),
    refused('an id with a space at its end', at(`/org/projects/${projectId}%20`), where),
    refused('an id with a line end', at(`/org/projects/${projectId}%0d%0aX-Injected:%201`), where),
    refused('an id of another type', at(`/org/api_keys/${projectId}`), where),
    refused('an empty id', at('/org/projects//limits'), where),
    refused('raw bytes that are not UTF-8', at('/org/projects/\xff\xfe'), where),
    refused('an expression', at('/org/projects/${7*7}{{7*7}}'), where),
  ]
}

function lines(...parts: string[]): string {
  return `${parts.join('\r\n')}\r\n\r\n`
}

function wide(text: string): string {
  return text.replaceAll(/[a-z0-9]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0))
}
