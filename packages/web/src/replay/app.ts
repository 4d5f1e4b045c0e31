// A click on a chapter goes to its position in the video; the current chapter is marked.
const video = document.querySelector('video')
const chapters = [...document.querySelectorAll<HTMLButtonElement>('nav button')]
const timeOf = (chapter: HTMLButtonElement) => Number(chapter.dataset['time'])

function listen(player: HTMLVideoElement): void {
  for (const chapter of chapters) {
    chapter.addEventListener('click', () => {
      player.currentTime = timeOf(chapter)
      player.play().catch(() => {})
    })
  }
  let current: HTMLButtonElement | undefined
  const mark = () => {
    const now = chapters.findLast((chapter) => timeOf(chapter) <= player.currentTime + 0.05)
    if (now === current) return
    current?.removeAttribute('aria-current')
    now?.setAttribute('aria-current', 'true')
    current = now
  }
  for (const event of ['timeupdate', 'seeking', 'loadedmetadata']) player.addEventListener(event, mark)
}

if (video) listen(video)
