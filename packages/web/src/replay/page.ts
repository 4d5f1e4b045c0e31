// The page behind `replay_view_url`, as the server fills it in: the video in the browser's own player, and its chapters.
import { html, Html } from '../shared/html.ts'

export interface Chapter {
  readonly timeMs: number
  readonly title: string
}

export interface PlayedReplay {
  readonly videoUrl: string
  readonly startedAt: string
  readonly durationMs: number
  readonly sizeBytes: number
  readonly lostMs: number
  readonly endReason: string | null
  readonly chapters: readonly Chapter[]
}

/** The built app.css and app.ts. They are inline, so that the page's policy can allow them by their hashes. */
export interface PageCode {
  readonly style: string
  readonly script: string
}

const endings: Readonly<Record<string, string>> = {
  size_limit: 'It stopped because it had become as large as it may',
  storage_limit: 'It stopped because its project may not store more',
  interrupted: 'It was cut off',
  failed: 'It was cut off by a fault',
  resized: 'It goes on as another recording after the window was resized',
}

export function playerPage(code: PageCode, replay: PlayedReplay): string {
  const { chapters, startedAt, durationMs, sizeBytes, lostMs, endReason } = replay
  const ending = endings[endReason ?? '']
  return page(
    code,
    'Replay',
    html`<main class="${chapters.length > 0 ? 'with-chapters' : ''}">
      <figure>
        <video src="${replay.videoUrl}" controls playsinline preload="metadata"></video>
        <figcaption>
          <span
            >Recorded
            <time datetime="${startedAt}">${startedAt.slice(0, 19).replace('T', ' ')} UTC</time></span
          >
          <span>${clock(durationMs)}</span>
          <span>${megabytes(sizeBytes)}</span>
          ${ending !== undefined && html`<span class="warn">${ending}</span>`}
          ${lostMs > 0 && html`<span class="warn">The picture stood still for ${clock(lostMs)}</span>`}
          <a href="${replay.videoUrl}" download="replay.mp4">Download</a>
        </figcaption>
      </figure>
      ${
        chapters.length > 0 &&
        html`<nav aria-label="Chapters">
          <h2>What happened</h2>
          <ol>
            ${chapters.map(
              ({ timeMs, title }) =>
                html`<li>
                  <button data-time="${timeMs / 1000}">
                    <time>${clock(timeMs)}</time><span>${title}</span>
                  </button>
                </li>`,
            )}
          </ol>
        </nav>`
      }
    </main>`,
  )
}

export interface Message {
  readonly title: string
  readonly text: string
  readonly refreshSeconds?: number
}

/** Shown if there is no video yet, or never will be. */
export function messagePage(code: PageCode, { title, text, refreshSeconds }: Message): string {
  const body = html`<div class="message" role="status">
    <h1>${title}</h1>
    <p>${text}</p>
  </div>`
  return page(
    code,
    title,
    body,
    refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}" />`,
  )
}

function page({ style, script }: PageCode, title: string, body: Html, head: Html | false = false): string {
  // Passed as values, because the template collapses white space, and the hashes would not match.
  const styleElement = new Html(`<style>${style}</style>`)
  const scriptElement = new Html(`<script type="module">${script}</script>`)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark" />
        ${head}
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        ${body} ${scriptElement}
      </body>
    </html>`.toString()
}

const two = (value: number) => String(value).padStart(2, '0')

/** 1:02:03, or 2:03. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

const megabytes = (bytes: number) =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
