/** An address that somebody else wrote: a link only if it is of the web. */
export function WebLink({ url, text = url }: { url: string; text?: string }) {
  if (!isWeb(url)) return <span>{text}</span>
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {text}
    </a>
  )
}

export const isWeb = (url: string) => /^https?:\/\//i.test(url)
