// The link in a mail that logs in. Mails have many links; one that leads anywhere but to the hosts of the login is none.
import { isOf } from '../hosts/hosts.ts'
import { signInWords } from '../words/actions.ts'
import { fold } from '../words/match.ts'
import { magicLinkWords } from '../words/messages.ts'
import type { Mail } from './mail.ts'

const MIN_SCORE = 3
const AVOIDED =
  /unsubscribe|opt-?out|preferences|privacy|terms|imprint|impressum|support|help|report|not-?me|wasn.?t|secure-?account|reset|delete|cancel|abmelde|datenschutz|désabonn|confidentialité/i
const INVITING =
  /magic|log-?in|sign-?in|verify|confirm|auth|token|otp|callback|activate|continue|anmeld|connexion|acceso/i

/** Undefined when no link is likely enough. */
export function linkIn(mail: Mail, hosts: readonly string[]): string | undefined {
  const found = new Map<string, number>()
  for (const { href, text } of mail.links) {
    const url = URL.parse(href)
    if (!url || url.username || url.password || !isOf(href, hosts)) continue
    const words = fold(text)
    if (AVOIDED.test(url.pathname) || AVOIDED.test(words)) continue
    let score = 0
    if (signInWords.in(words) || magicLinkWords.in(words) || INVITING.test(words)) score += 4
    if (INVITING.test(url.pathname)) score += 2
    if (hasToken(url)) score += 3
    if (score > 0) found.set(url.href, Math.max(found.get(url.href) ?? 0, score))
  }
  const [best, second] = [...found].toSorted(([, one], [, other]) => other - one)
  if (!best || best[1] < MIN_SCORE) return undefined
  return second && second[1] === best[1] ? undefined : best[0]
}

/** What makes a link work once: a long value that nobody types. */
function hasToken({ pathname, searchParams, hash }: URL): boolean {
  const parts = [...pathname.split('/'), ...searchParams.values(), ...hash.split(/[=&/]/)]
  return parts.some((part) => part.length >= 12 && /\d/.test(part) && /^[\w.~%+=-]+$/.test(part))
}
