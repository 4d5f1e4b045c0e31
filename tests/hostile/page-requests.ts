// Every way in which a page can send a request. Each uses its own path below the given base, so that a server can
// tell which of them arrived.

/** In the page, `url` is the target, and `add(tag, attributes)` inserts an element. */
const requests = {
  fetch: `fetch(url, { mode: 'no-cors' })`,
  post: `fetch(url, { method: 'POST', mode: 'no-cors', body: 'x', keepalive: true })`,
  xhr: `const request = new XMLHttpRequest(); request.open('GET', url); request.send()`,
  beacon: `navigator.sendBeacon(url, 'x')`,
  events: `new EventSource(url)`,
  image: `new Image().src = url`,
  script: `add('script', { src: url })`,
  module: `add('script', { type: 'module', src: url })`,
  style: `add('link', { rel: 'stylesheet', href: url })`,
  import: `add('style', {}).textContent = '@import url(' + url + ')'`,
  font: `const family = 'f' + Math.random().toString().slice(2)
    add('style', {}).textContent = '@font-face { font-family: ' + family + '; src: url(' + url + ') }'
    add('p', { style: 'font-family: ' + family }).textContent = 'text'`,
  video: `add('video', { src: url, preload: 'auto' })`,
  prefetch: `add('link', { rel: 'prefetch', href: url })`,
  preload: `add('link', { rel: 'preload', as: 'image', href: url })`,
  'module-preload': `add('link', { rel: 'modulepreload', href: url })`,
  frame: `add('iframe', { src: url })`,
  refresh: `add('iframe', { srcdoc: '<meta http-equiv=refresh content="0; url=' + url + '">' })`,
  object: `add('object', { data: url })`,
  embed: `add('embed', { src: url })`,
  form: `const name = 'frame' + Math.random(); add('iframe', { name })
    add('form', { action: url, method: 'post', target: name }).submit()`,
  'worker-fetch': `new Worker(script('fetch(' + JSON.stringify(url) + ', { mode: "no-cors" })'))`,
  'worker-script': `new Worker(script('importScripts(' + JSON.stringify(url) + ')'))`,
  'shared-worker': `new SharedWorker(script('fetch(' + JSON.stringify(url) + ', { mode: "no-cors" })'))`,
}

/** Those that an ordinary server does not see as requests. */
const others = {
  socket: `new WebSocket(url.replace(/^http/, 'ws'))`,
  preconnect: `add('link', { rel: 'preconnect', href: url })`,
  'dns-prefetch': `add('link', { rel: 'dns-prefetch', href: url })`,
  ping: `add('a', { href: '#', ping: url }).click()`,
}

/** The paths that a server sees when all of them arrive. */
export const pathsOfRequests = Object.keys(requests).map((how) => `/via/${how}`)

/** An expression that starts all of them in a page. */
export function sendEverything(bases: readonly string[]): string {
  const attempts = Object.entries({ ...requests, ...others }).map(
    ([how, code]) => `${JSON.stringify(how)}: async (url) => { ${code} }`,
  )
  return `(() => {
    const add = (tag, attributes) => {
      const element = document.createElement(tag)
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
      document.body.append(element)
      return element
    }
    const script = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
    const attempts = { ${attempts.join(',\n')} }
    for (const base of ${JSON.stringify(bases)}) {
      // A refusal by the page's own rules is fine, too.
      for (const how in attempts) attempts[how](base + '/via/' + how).catch(() => {})
    }
  })()`
}
