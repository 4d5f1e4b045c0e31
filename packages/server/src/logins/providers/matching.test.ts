import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFor } from './matching.ts'

const matching: [url: string, domain: string][] = [
  ['github.com', 'github.com'],
  ['https://github.com/login', 'github.com'],
  ['https://GITHUB.com', 'GitHub.com'],
  ['http://github.com:80/', 'github.com'],
  ['https://www.netflix.com/login', 'netflix.com'],
  ['netflix.com', 'www.netflix.com'],
  ['*.example.com', 'app.example.com'],
  ['https://*.example.com/login', 'a.b.example.com'],
  ['*.team.example.co.uk', 'a.team.example.co.uk'],
  ['https://intranet.example:8443/', 'intranet.example:8443'],
  ['*.intranet.example:8443', 'a.intranet.example:8443'],
  ['http://localhost:3000/login', 'localhost:3000'],
  ['http://10.0.0.5', '10.0.0.5'],
  ['bücher.example', 'xn--bcher-kva.example'],
]

for (const [url, domain] of matching) {
  test(`"${url}" is for ${domain}`, () => assert.ok(isFor(url, domain)))
}

const foreign: [url: string, domain: string][] = [
  ['github.com', 'evil-github.com'],
  ['github.com', 'github.com.evil.example'],
  ['github.com', 'gist.github.com'],
  ['gist.github.com', 'github.com'],
  ['https://evil.example/github.com', 'github.com'],
  ['https://github.com@evil.example/', 'github.com'],
  ['https://evil.example#github.com', 'github.com'],
  ['*.example.com', 'example.com'],
  ['*.example.com', 'evilexample.com'],
  ['*.example.com', 'app.example.com.evil.example'],
  ['*.com', 'bank.com'],
  ['*.co.uk', 'bank.co.uk'],
  ['*.github.io', 'somebody.github.io'],
  ['www.github.io', 'github.io'],
  ['github.io', 'www.github.io'],
  ['*.0.0.1', '127.0.0.1'],
  ['*', 'github.com'],
  ['*.*.com', 'a.github.com'],
  ['**.github.com', 'a.github.com'],
  ['a*.github.com', 'ab.github.com'],
  ['intranet.example', 'intranet.example:8443'],
  ['intranet.example:8443', 'intranet.example'],
  ['intranet.example:8443', 'intranet.example:8444'],
  ['*.intranet.example', 'a.intranet.example:8443'],
  ['ftp://github.com', 'github.com'],
  ['gіthub.com', 'github.com'],
  ['', 'github.com'],
  ['github.com', ''],
]

for (const [url, domain] of foreign) {
  test(`"${url}" is not for "${domain}"`, () => assert.ok(!isFor(url, domain)))
}
