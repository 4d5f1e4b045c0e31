// A part of the page that cannot be loaded: the server is away, or was updated meanwhile and has other parts.
const MARK = 'berth.reloaded'
const AGAIN_MS = 10_000
const ASK_EVERY_MS = 1_000

/** Waits until the server answers. Does not reload again and again, if that does not help. */
export async function reloadWhenThere(): Promise<void> {
  while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  const last = Number(sessionStorage.getItem(MARK) ?? 0)
  if (Date.now() - last < AGAIN_MS) return
  sessionStorage.setItem(MARK, String(Date.now()))
  location.reload()
}

const isThere = () =>
  fetch('/health').then(
    ({ ok }) => ok,
    () => false,
  )
