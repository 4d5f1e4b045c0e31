// Reads everything that matters for a login from a page snapshot. Pure: the same snapshot gives the same reading.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { hasCaptcha } from './captcha.ts'
import { choicesOf } from './choices.ts'
import { complaintsOf } from './complaints.ts'
import { confirmOf } from './confirm.ts'
import { dismissOf } from './dismiss.ts'
import { formOf, newPasswordFormOf } from './forms.ts'
import { loginIconsOf } from './icons.ts'
import { hasLogOut, loginLinksOf } from './links.ts'
import { menusOf } from './menus.ts'
import { newsOf } from './news.ts'
import { obstacleOf } from './obstacles.ts'
import type { ReadChoice, Reading, Scene } from './reading.ts'
import { waitingOf } from './waiting.ts'

export interface ReadingContext {
  /** Lines of the page before submission. Other lines are news. */
  readonly linesBefore: ReadonlySet<string> | undefined
}

export function readPage(
  snapshot: PageSnapshot,
  { linesBefore }: ReadingContext = { linesBefore: undefined },
): Reading {
  const scenes = scenesOf(snapshot)
  const found = formOf(scenes)
  const hasSecret =
    found?.fields.some(({ kind }) => kind === 'password' || kind === 'code' || kind === 'totp_code') === true
  const isSignedIn = hasLogOut(scenes) && !hasSecret
  // Signed-in pages have fields for email addresses too, such as invitations.
  const form = isSignedIn ? undefined : (found ?? newPasswordFormOf(scenes))
  const choices = isSignedIn ? [] : choicesFrom(snapshot, scenes, form)
  const complaints = complaintsOf(snapshot, form, linesBefore)
  const waiting = waitingOf(snapshot, scenes, form, isSignedIn)
  const links = loginLinksOf(scenes).filter(({ ref }) => ref !== form?.submit?.ref)
  const isCaptcha = !isSignedIn && hasCaptcha(snapshot, scenes, form)
  const findings = { scenes, form, choices, complaints, isSignedIn, hasCaptcha: isCaptcha }
  return {
    obstacle: obstacleOf(snapshot, findings),
    hasCaptcha: isCaptcha,
    form,
    choices,
    waiting,
    confirm: form || choices.length > 0 ? undefined : confirmOf(snapshot, scenes, isSignedIn),
    dismiss: dismissOf(scenes),
    complaints,
    news: newsOf(snapshot, linesBefore),
    loginLinks: links,
    loginIcons: loginIconsOf(scenes),
    signs: {
      isSignedIn,
      isSignedOut: !isSignedIn && (form !== undefined || snapshot.http_auth !== null || links.length > 0),
    },
  }
}

/** If the page offers nothing else, the country may be the first question of the login. */
function choicesFrom(
  snapshot: PageSnapshot,
  scenes: readonly Scene[],
  form: Reading['form'],
): readonly ReadChoice[] {
  const choices = choicesOf(scenes, form)
  return form || choices.length > 0 ? choices : choicesOf(scenesOf(snapshot, { hasCountries: true }), form)
}

/** Visible frames, without those of captchas and advertisements, and without menus that are none of the login's. */
function scenesOf({ frames, elements }: PageSnapshot, { hasCountries = false } = {}): Scene[] {
  return frames.flatMap((frame, index) => {
    const isAside =
      index > 0 &&
      /captcha|turnstile|challenges\.cloudflare|doubleclick|googletagmanager|arkoselabs|geetest/i.test(
        frame.url,
      )
    if (!frame.is_visible || isAside) return []
    const all = elements.filter((element) => element.frame === index)
    const { settings, countries } = menusOf(all, frame.language)
    const isLeft = ({ ref }: ElementSnapshot) => !settings.has(ref) && (hasCountries || !countries.has(ref))
    return [{ frame, index, elements: all.filter(isLeft) }]
  })
}
