// Writes the session of a website to a file, in the format of Playwright's storageState. Nothing is sent anywhere.
const field = document.getElementById('domain')
const note = document.getElementById('note')

/** Of the name of a host; the person can change it. Short second names belong to the ending, such as `co.uk`. */
function siteOf(host) {
  if (/^[\d.]+$|:/.test(host)) return host
  const labels = host.split('.')
  const isLong = labels.length > 2 && labels.at(-1).length === 2 && labels.at(-2).length <= 3
  return labels.slice(isLong ? -3 : -2).join('.')
}

function isOf(host, domain) {
  return host === domain || host.endsWith(`.${domain}`)
}

function hostOf(address) {
  return URL.parse(address)?.hostname ?? ''
}

const sameSites = { strict: 'Strict', lax: 'Lax', no_restriction: 'None', unspecified: 'Lax' }

async function cookiesOf(domain) {
  const found = await chrome.cookies.getAll({ domain })
  return found.map((cookie) => ({
    name: cookie.name,
    value: cookie.value,
    domain: cookie.domain,
    path: cookie.path,
    expires: cookie.expirationDate ?? -1,
    httpOnly: cookie.httpOnly,
    secure: cookie.secure,
    sameSite: sameSites[cookie.sameSite] ?? 'Lax',
  }))
}

/** Only of pages that are open: an extension cannot read what others have stored. */
async function originsOf(domain) {
  const tabs = await chrome.tabs.query({})
  const open = tabs.filter(({ url }) => url !== undefined && isOf(hostOf(url), domain))
  const stored = new Map()
  for (const { id } of open) {
    const read = await chrome.scripting
      .executeScript({
        target: { tabId: id, allFrames: true },
        func: () => ({
          origin: location.origin,
          items: Object.keys(localStorage).map((name) => [name, localStorage.getItem(name)]),
        }),
      })
      // A page that the browser protects, or that was closed.
      .catch(() => [])
    for (const { result } of read) {
      if (!result || result.items.length === 0 || !isOf(hostOf(result.origin), domain)) continue
      stored.set(
        result.origin,
        result.items.map(([name, value]) => ({ name, value })),
      )
    }
  }
  return [...stored].map(([origin, localStorage]) => ({ origin, localStorage }))
}

async function save(domain) {
  const [cookies, origins] = await Promise.all([cookiesOf(domain), originsOf(domain)])
  if (cookies.length === 0 && origins.length === 0) {
    note.textContent = `There is nothing of ${domain}. Sign in there, leave the page open, and try again.`
    return
  }
  const file = new Blob([JSON.stringify({ cookies, origins }, undefined, 2)], { type: 'application/json' })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `${domain}.session.json`
  link.click()
  note.textContent = `Saved ${cookies.length} cookies and the storage of ${origins.length} origins.`
}

document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault()
  const domain = field.value.trim().toLowerCase().replace(/^\.+/, '')
  save(domain).catch((error) => {
    note.textContent = `Cannot save the session: ${error.message}`
  })
})

// `?tab=` is for a popup that is opened as a page.
const wanted = Number(new URLSearchParams(location.search).get('tab'))
const [tab] = wanted
  ? [await chrome.tabs.get(wanted)]
  : await chrome.tabs.query({ active: true, currentWindow: true })
const host = hostOf(tab?.url ?? '')
field.value = /^https?:/.test(tab?.url ?? '') ? siteOf(host) : ''
