// A page as a picture: its photo, if there is one, or its controls as boxes, and around each what the rules took it for.
// Made of a masked snapshot, so it shows no value.
import type { ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { isClickable, isTextField } from '../rules/element-words.ts'
import { readPage } from '../rules/read-page.ts'
import type { ExplainedStep } from '../run/step.ts'

const WIDTH = 1_024
const HEIGHT = 768
const MAX_HEIGHT = 4_000
const MAX_DRAWN = 150
const MAX_LINES = 24
const CHARACTER_WIDTH = 7

/** SVG without scripts, addresses or fonts of others. */
export function drawingOf({ page, photo }: Pick<ExplainedStep, 'page' | 'photo'>): string | undefined {
  if (!page) return undefined
  const shown = page.elements.filter((element) => element.is_visible && hasSize(element)).slice(0, MAX_DRAWN)
  const bottom = Math.max(HEIGHT, ...shown.map(({ box: [, y = 0, , height = 0] }) => y + height + 20))
  const height = photo === undefined ? Math.min(MAX_HEIGHT, bottom) : HEIGHT
  const roles = rolesOf(page)
  const parts = [
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    photo === undefined
      ? ''
      : `<image width="${WIDTH}" height="${HEIGHT}" preserveAspectRatio="xMinYMin" href="data:image/jpeg;base64,${photo}"/>`,
    ...(photo === undefined ? textOf(page, shown) : []),
    ...shown.map((element) => drawn(element, { role: roles.get(element.ref), isPhoto: photo !== undefined })),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">${parts.join('')}</svg>`
}

/** What the rules took each element for. */
function rolesOf(page: PageSnapshot): ReadonlyMap<string, string> {
  const { form, choices, confirm, dismiss, loginLinks } = readPage(page)
  return new Map<string, string>([
    ...loginLinks.map((element) => [element.ref, 'leads to the login'] as const),
    ...(dismiss ? [[dismiss.ref, 'closes a banner'] as const] : []),
    ...(confirm ? [[confirm.button.ref, 'goes on'] as const] : []),
    ...choices.map(({ element, kind }) => [element.ref, kind] as const),
    ...(form?.submit ? [[form.submit.ref, 'submits'] as const] : []),
    ...(form?.fields ?? []).flatMap(({ elements, kind }) => elements.map(({ ref }) => [ref, kind] as const)),
  ])
}

function hasSize({ box: [x = 0, y = 0, width = 0, height = 0] }: ElementSnapshot): boolean {
  return width > 2 && height > 2 && x < WIDTH && y < MAX_HEIGHT && x + width > 0 && y + height > 0
}

/** The text of a page has no places, so it stands beside the controls. */
function textOf({ frames }: PageSnapshot, shown: readonly ElementSnapshot[]): string[] {
  const first = Math.max(...shown.map(({ box: [x = 0, , width = 0] }) => x + width), WIDTH / 2) + 20
  if (first > WIDTH - 120) return []
  const lines = frames.flatMap(({ text }) => text.split('\n')).slice(0, MAX_LINES)
  return lines.map((line, index) =>
    words(line, { x: first, y: 40 + index * 18, width: WIDTH - first, colour: '#6b7280' }),
  )
}

function drawn(
  element: ElementSnapshot,
  { role, isPhoto }: { role: string | undefined; isPhoto: boolean },
): string {
  const [x = 0, y = 0, width = 0, height = 0] = element.box
  if (isPhoto && role === undefined) return ''
  const isField = isTextField(element)
  const stroke = role === undefined ? '#c3c8d0' : '#1d4ed8'
  const fill = isPhoto ? 'none' : isField ? '#f3f4f6' : isClickable(element) ? '#e5e7eb' : '#fff'
  const name = isField ? element.label || element.placeholder : element.text || element.label
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="3" fill="${fill}" stroke="${stroke}" stroke-width="${role === undefined ? 1 : 2}"/>`,
    isPhoto ? '' : words(name, { x: x + 6, y: y + height / 2 + 4, width: width - 8, colour: '#111827' }),
    role === undefined ? '' : words(role, { x, y: y - 4, width: 300, colour: stroke }),
  ].join('')
}

function words(
  text: string,
  { x, y, width, colour }: { x: number; y: number; width: number; colour: string },
): string {
  const most = Math.max(0, Math.floor(width / CHARACTER_WIDTH))
  const shown = text.length > most ? `${text.slice(0, Math.max(0, most - 1))}…` : text
  return most < 2 || text === '' ? '' : `<text x="${x}" y="${y}" fill="${colour}">${escaped(shown)}</text>`
}

const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' }

function escaped(text: string): string {
  // XML has no control characters.
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ').replaceAll(/[<>&"]/g, (character) => entities[character]!)
}
