// Runs in the page: chapters lead to their place, and the one that is playing is marked. It is always the same
// text, so the policy of the page names it by its hash.
import { createHash } from 'node:crypto'

export const script = `
const video = document.querySelector('video')
const chapters = [...document.querySelectorAll('nav button')]
const timeOf = (chapter) => Number(chapter.dataset.time)
for (const chapter of chapters) chapter.addEventListener('click', () => {
  video.currentTime = timeOf(chapter)
  video.play().catch(() => {})
})
let current
const mark = () => {
  const now = chapters.findLast((chapter) => timeOf(chapter) <= video.currentTime + 0.05)
  if (now === current) return
  current?.removeAttribute('aria-current')
  now?.setAttribute('aria-current', 'true')
  current = now
}
if (video && chapters.length > 0) for (const event of ['timeupdate', 'seeking', 'loadedmetadata']) video.addEventListener(event, mark)
`

export const scriptHash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`
