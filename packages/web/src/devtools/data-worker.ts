// Workers of a page without an origin. It cannot make one from a URL, but it can make one from a data URL, and that one
// may import the URL. Chromium refuses modules from blobs there.

export function dataWorker(Original: typeof Worker): typeof Worker {
  return class extends Original {
    constructor(url: string | URL, options?: WorkerOptions) {
      const address = JSON.stringify(new URL(url, document.baseURI).href)
      const source = options?.type === 'module' ? `import ${address}` : `importScripts(${address})`
      super(`data:text/javascript,${encodeURIComponent(source)}`, options)
    }
  }
}
