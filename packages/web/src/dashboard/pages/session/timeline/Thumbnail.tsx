import { useOneEvent } from './one-event.ts'

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

export function pictureOf(png: unknown): string | undefined {
  return typeof png === 'string' && BASE64.test(png) ? `data:image/png;base64,${png}` : undefined
}

/** A screenshot, read when its row comes into sight. */
export function Thumbnail({ seq }: { seq: number }) {
  const { data } = useOneEvent(seq)
  const url = pictureOf(data?.event.data?.['png'])
  return url === undefined ? <span className="thumbnail" /> : <img className="thumbnail" src={url} alt="" />
}
