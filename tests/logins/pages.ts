// Reads login pages that others have saved and labelled, with the real reader and rules, and counts the fields it finds.
//   npm run logins -- --pages <directory>                    every .html file in the directory
//   npm run logins -- --pages <directory> --keep <directory> stores snapshots, and reads them again without a browser
// An attribute names what a field is: data-manual-scoring or data-fathom. The reader never sees it. Without labels, the
// only password that a person sees counts, and the text field before it. No page is part of this repository.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { readPage } from '@berth/login/rules/read-page'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { PageActionsUnderTest } from '../fixtures/login-page-actions.ts'
import { evaluateAt } from './browser-under-test.ts'
import { owning } from './owning.ts'

const PAGE_TIMEOUT_MS = 30_000
/** One browser reads all pages. */
const LEASE_SECONDS = 7_200
const QUIET = { quiet_ms: 300, most_ms: 4_000 }
const LABELS = /\sdata-(?:manual-scoring|fathom)=("[^"]*"|'[^']*'|[^\s>]+)/gi
/** Saved pages stay as they were saved, and load nothing from elsewhere. */
const POLICY =
  "default-src 'self' 'unsafe-inline' data:; script-src 'none'; frame-src 'self'; form-action 'none'"

type What = 'name' | 'password' | 'other'

interface Labelled {
  readonly selector: string
  readonly what: What
}
interface Seen {
  readonly snapshot: PageSnapshot
  /** The fields with a label that a person sees. */
  readonly labelled: readonly Labelled[]
}

interface Counted {
  wanted: number
  found: number
}

export async function readPages(directory: string, keep: string | undefined): Promise<boolean> {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.html')).toSorted()
  const counts: Record<What, Counted> = {
    name: { wanted: 0, found: 0 },
    password: { wanted: 0, found: 0 },
    other: { wanted: 0, found: 0 },
  }
  if (keep) await mkdir(keep, { recursive: true })
  await owning(async (owner) => {
    let reader: Reader | undefined
    for (const file of files) {
      const path = keep && join(keep, `${file}.json`)
      let seen: Seen
      if (path && existsSync(path)) seen = JSON.parse(await readFile(path, 'utf8')) as Seen
      else {
        reader ??= await Reader.start(owner)
        try {
          seen = await reader.read(await readFile(join(directory, file)))
        } catch (error) {
          console.log(`${file}: cannot be read: ${String(error)}`)
          continue
        }
        if (path) await writeFile(path, JSON.stringify(seen))
      }
      const missed = judge(seen, counts)
      if (missed.length > 0) console.log(`${file}: ${missed.join('; ')}`)
    }
  })
  console.log(
    `new passwords taken for the password of a login: ${counts.other.found} of ${counts.other.wanted}`,
  )
  for (const what of ['name', 'password'] as const) {
    const { wanted, found } = counts[what]
    console.log(`${what}s: ${found} of ${wanted} (${((100 * found) / Math.max(1, wanted)).toFixed(1)} %)`)
  }
  return counts.name.found === counts.name.wanted && counts.password.found === counts.password.wanted
}

/** Counts a page that shows such a field, and says what was found instead. */
function judge({ snapshot, labelled }: Seen, counts: Record<What, Counted>): string[] {
  const { form, choices, obstacle } = readPage(snapshot)
  const others = labelled.filter(({ what }) => what === 'other')
  const isTaken =
    form?.kind !== 'new password' &&
    form?.fields.some(
      ({ kind, elements }) =>
        kind === 'password' && others.some(({ selector }) => selector === elements[0]?.selector),
    ) === true
  if (others.length > 0) counts.other.wanted++
  if (isTaken) counts.other.found++
  const missed = (['name', 'password'] as const).flatMap((what) => {
    const wanted = labelled.filter((each) => each.what === what)
    if (wanted.length === 0) return []
    const kind = what === 'name' ? 'identifier' : 'password'
    const read = (form?.fields ?? []).filter((field) => field.kind === kind)
    const isFound = read.some(({ elements }) =>
      wanted.some(({ selector }) => elements.some((element) => element.selector === selector)),
    )
    counts[what].wanted++
    if (isFound) {
      counts[what].found++
      return []
    }
    const fields = form?.fields.map((field) => `${field.kind} "${field.label}"`).join(', ')
    const instead = form
      ? `${form.kind}: ${fields}`
      : (obstacle?.code ?? (choices.length > 0 ? 'only choices' : 'no form'))
    return [`no ${what} (${instead})`]
  })
  return isTaken ? [...missed, 'took a new password for the one of the login'] : missed
}

class Reader {
  readonly #pageActions: PageActionsUnderTest
  readonly #origin: string
  #page: { readonly path: string; readonly body: Buffer } = { path: '/', body: Buffer.from('') }

  private constructor(pageActions: PageActionsUnderTest, origin: string) {
    this.#pageActions = pageActions
    this.#origin = origin
  }

  static async start(owner: Owner): Promise<Reader> {
    const server = createServer((request, response) => {
      const { path, body } = reader.#page
      if (request.url !== path) return response.writeHead(404).end()
      response.setHeader('content-security-policy', POLICY)
      response.setHeader('content-type', isUtf8(body) ? 'text/html; charset=utf-8' : 'text/html')
      return response.end(body)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUpAfter(owner, () => {
      server.closeAllConnections()
      server.close()
    })
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const pageActions = await PageActionsUnderTest.start(owner, { leaseSeconds: LEASE_SECONDS })
    const reader = new Reader(pageActions, origin)
    return reader
  }

  async read(page: Buffer): Promise<Seen> {
    const text = page.toString('latin1')
    // Some collections name the address of the page, whose path the rules may use.
    const address = /https?:\/\/\S+/.exec(/^\s*<!--[^]*?-->/.exec(text)?.[0] ?? '')?.[0] ?? ''
    const path = URL.parse(address)?.pathname ?? '/'
    const body = Buffer.from(text.replaceAll(LABELS, ' labelled-as=$1'), 'latin1')
    this.#page = { path, body }
    const order = { url: this.#origin + path, aside: false, ...QUIET }
    const snapshot = await this.#pageActions.visit(order, AbortSignal.timeout(PAGE_TIMEOUT_MS))
    const xpaths = snapshot.elements.map(({ xpath }) => xpath)
    using cdp = await this.#pageActions.agent.openCdp()
    const found = await evaluateAt<{ element: number; what: What }[]>(
      cdp,
      this.#origin,
      `(${LABELLED})(${JSON.stringify(xpaths)})`,
    )
    const labelled = found.map(({ element, what }) => ({
      // A field that the reader does not know has no selector, and so is never found.
      selector: snapshot.elements[element]?.selector ?? '',
      what,
    }))
    return { snapshot, labelled }
  }
}

function isUtf8(body: Buffer): boolean {
  return Buffer.from(body.toString('utf8'), 'utf8').equals(body)
}

/** Runs in the page: what a person sees of the labelled fields, by the index of the element that the reader found. */
const LABELLED = String.raw`(xpaths) => {
  const known = xpaths.map(
    (xpath) => document.evaluate(xpath, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue,
  )
  const isSeen = (element) => {
    const { width, height } = element.getBoundingClientRect()
    const isDrawn = element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    for (let above = element.parentElement; above; above = above.parentElement) {
      const isClipped = /hidden|clip/.test(getComputedStyle(above).overflow)
      if (isClipped && (above.clientWidth < 2 || above.clientHeight < 2)) return false
      if (above.getAttribute('aria-hidden') === 'true') return false
    }
    return width > 8 && height > 8 && isDrawn && element.type !== 'hidden' && !element.readOnly
  }
  const named = [...document.querySelectorAll('[labelled-as]')].map((element) => ({
    element,
    label: element.getAttribute('labelled-as'),
  }))
  const fields = [...document.querySelectorAll('input')].filter(isSeen)
  const passwords = fields.filter(({ type }) => type === 'password')
  if (named.length === 0 && passwords.length === 1) {
    const [element] = passwords
    named.push({ element, label: 'password' })
    const before = fields
      .slice(0, fields.indexOf(element))
      .findLast(({ type, form }) => /^(text|email|tel|number)$/.test(type) && form === element.form)
    if (before) named.push({ element: before, label: 'username' })
  }
  const whatIs = (label) =>
    /^password(\.current)?$/.test(label) ? 'password' : /username|email/i.test(label) ? 'name' : 'other'
  return named
    .filter(({ element }) => isSeen(element))
    .map(({ element, label }) => ({ element: known.indexOf(element), what: whatIs(label) }))
}`
