// What a login looks for among the mails of a mailbox.
import type { FoundInMail, WantedMail } from '../run/mailbox.ts'
import { codeIn } from './code.ts'
import { linkIn } from './link.ts'
import type { Mail } from './mail.ts'
import { isFromSite } from './sender.ts'

/** `mails`: newest first. */
export function findIn(mails: readonly Mail[], wanted: WantedMail): FoundInMail | undefined {
  for (const mail of mails) {
    if (!isFromSite(mail, wanted)) continue
    if (wanted.kind === 'link') {
      const url = linkIn(mail, wanted.linkHosts)
      if (url !== undefined && !wanted.used.includes(url)) return { kind: 'link', url }
      continue
    }
    const code = codeIn(mail, wanted)
    if (code !== undefined && !wanted.used.includes(code)) return { kind: 'code', code }
  }
  return undefined
}
