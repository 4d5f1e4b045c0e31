import { invalidInput } from '../../platform/errors/app-error.ts'

/** Throws for anything but an address that requests can be sent to. Where it leads is judged elsewhere. */
export function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw invalidInput('url', 'must be an https URL, such as https://receiver.example/berth')
  }
  if (url.username || url.password) {
    throw invalidInput('url', 'must not have a user name or password; verify the signature instead')
  }
  if (text.includes('#')) throw invalidInput('url', 'must not have a fragment')
  return url
}
