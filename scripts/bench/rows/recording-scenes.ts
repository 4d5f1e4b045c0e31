import type { Page } from '../subjects/page.ts'

const TEXT = `for (let row = 0; row < 400; row++) document.write('<p style="color: hsl(' + row * 15 + ' 80% 35%)">Berth ' +
  row + ': the quick brown fox jumps over the lazy dog, and ' + Math.sin(row) + ' more words to fill the line</p>')`
const STYLE = 'body { font: 15px sans-serif; caret-color: transparent } p { margin: 8px }'

/** What the page does while it is recorded. */
export const scenes = {
  still: sceneOf('', ''),
  spinner: sceneOf(
    `i { position: fixed; left: 300px; top: 300px; width: 64px; height: 64px; border: 8px solid #ccc;
       border-top-color: #06c; border-radius: 50%; animation: turn 1s linear infinite }
     @keyframes turn { to { transform: rotate(360deg) } }`,
    "document.write('<i></i>')",
  ),
  scroll: sceneOf(
    '',
    `let at = 0, step = 8; const move = () => { at += step; if (at > 6000 || at < 0) step = -step
       scrollTo(0, at); requestAnimationFrame(move) }; move()`,
  ),
  /** A new colour every second; the page reports when it painted each. */
  flips: sceneOf(
    'body { background: #fff }',
    `document.body.textContent = ''; window.flips = []; let red = false
     setInterval(() => { red = !red; document.body.style.background = red ? 'red' : 'blue'
       requestAnimationFrame(() => requestAnimationFrame(() => flips.push(Date.now()))) }, 1000)`,
  ),
} as const
export type Scene = keyof typeof scenes

export async function show(page: Page, scene: Scene): Promise<void> {
  await page.call('Page.navigate', {
    url: `data:text/html;charset=utf-8,${encodeURIComponent(scenes[scene])}`,
  })
  await page.until('document.title + document.readyState', 'Scenecomplete')
}

function sceneOf(style: string, script: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Scene</title><style>${STYLE} ${style}</style><body>
    <script>${TEXT}; ${script}</script>`
}
