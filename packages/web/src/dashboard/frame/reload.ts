const MARK = 'berth.reloaded'
const AGAIN_MS = 10_000

/** Not again and again, if that does not help. */
export function reloadOnce(): void {
  const last = Number(sessionStorage.getItem(MARK) ?? 0)
  if (Date.now() - last < AGAIN_MS) return
  sessionStorage.setItem(MARK, String(Date.now()))
  location.reload()
}
