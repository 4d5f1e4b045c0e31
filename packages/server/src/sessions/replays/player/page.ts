// The page behind replay_view_url: a player that any browser has, and where in the video what happened.
import { createHash } from 'node:crypto'
import { html, Html } from '../../../http/reference/html.ts'
import type { Chapter } from '../mp4/movie.ts'
import { script, scriptHash } from './script.ts'
import { style } from './style.ts'

export interface PlayedReplay {
  readonly videoUrl: string
  readonly startedAt: string
  readonly durationMs: number
  readonly sizeBytes: number
  readonly lostMs: number
  readonly endReason: string | null
  readonly chapters: readonly Chapter[]
}

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`

// Not in the template, whose blanks would change their hashes.
const styleElement = new Html(`<style>${style}</style>`)
const scriptElement = new Html(`<script>${script}</script>`)

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // The URL has the token in it.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy':
    `default-src 'none'; media-src 'self'; style-src ${styleHash}; script-src ${scriptHash}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors *",
}

const endings: Readonly<Record<string, string>> = {
  size_limit: 'It stopped because it had become as large as it may',
  interrupted: 'It was cut off',
  failed: 'It was cut off by a fault',
  resized: 'It goes on as another recording after the window was resized',
}

export function playerPage(replay: PlayedReplay): string {
  const { chapters, startedAt, durationMs, sizeBytes, lostMs, endReason } = replay
  const ending = endings[endReason ?? '']
  return page(
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

/** While there is nothing to play, or never will be. */
export function messagePage(options: { title: string; text: string; refreshSeconds?: number }): string {
  const { title, text, refreshSeconds } = options
  const body = html`<div class="message" role="status">
    <h1>${title}</h1>
    <p>${text}</p>
  </div>`
  return page(
    title,
    body,
    refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}" />`,
  )
}

function page(title: string, body: Html, head: Html | false = false): string {
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
