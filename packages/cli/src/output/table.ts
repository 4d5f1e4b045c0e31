// Tables without lines. On a terminal they fit its width; anywhere else nothing is cut.
import Table from 'cli-table3'
import type { Terminal } from './terminal.ts'

const GAP = 2
const MIN_WIDTH = 8

const NO_LINES = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((name) => [name, '']),
)

export function tableText(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, paint }: Pick<Terminal, 'columns' | 'paint'>,
): string {
  const widths = widthsFor([titles, ...rows], columns)
  const table = new Table({
    chars: NO_LINES,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    head: titles.map((title) => paint('bold', title)),
    ...(columns !== undefined && { colWidths: widths }),
  })
  table.push(...rows.map((row) => [...row]))
  return `${table.toString().replaceAll(/[ \t]+$/gm, '')}\n`
}

/** The widest columns give until all fit. The first one names the row, and names are copied, so it is never cut. */
export function widthsFor(rows: readonly (readonly string[])[], columns: number | undefined): number[] {
  const widths = (rows[0] ?? []).map(
    (_title, at) => Math.max(...rows.map((row) => displayWidth(row[at] ?? ''))) + GAP,
  )
  if (columns === undefined) return widths
  for (;;) {
    const others = widths.slice(1)
    const over = widths.reduce((sum, width) => sum + width, 0) - columns
    const widest = Math.max(...others)
    if (over <= 0 || widest <= MIN_WIDTH) return widths
    const next = Math.max(MIN_WIDTH, ...others.filter((width) => width < widest))
    const at = widths.indexOf(widest, 1)
    widths[at] = Math.max(next === widest ? widest - 1 : next, widest - over)
  }
}

/** Characters of East Asian scripts and emoji take two columns. */
function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += WIDE.test(character) ? 2 : 1
  return width
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uFF01-\uFF60]/u
