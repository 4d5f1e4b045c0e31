// Bundles the programs of an instance into the files that are bound into it: the agent, and the program with Playwright,
// which the agent starts when there is code to run or a client of Playwright's own protocol to serve.
//
//   node build.ts [directory]                                  all of them
//   node build.ts --playwright <playwright-core> <file>        only Playwright, of another version
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { build as esbuild, type BuildOptions, type Plugin } from 'esbuild'
import { generatedChecks } from './src/checks/generate.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Seldom used, and some of them ten times the rest; see src/packed/packed.ts. */
const packed = {
  apps: 'src/apps/handlers.ts',
  bidi: 'src/bidi/server.ts',
  computer: 'src/packed/computer.ts',
  login: 'src/login/handlers.ts',
  playwright: 'src/playwright/server.ts',
  recording: 'src/packed/recording.ts',
  telemetry: 'src/telemetry/capture.ts',
  terminals: 'src/control/processes/attach-server.ts',
  userData: 'src/user-data/handlers.ts',
}

export async function bundleAgent(outFile: string): Promise<void> {
  const define = {
    APP_RUNNERS: JSON.stringify(await appRunners()),
    LOGIN_PAGE: JSON.stringify(await loginPage()),
    PLAYWRIGHT_VERSION: JSON.stringify(await playwrightVersion()),
  }
  const entries = Object.entries(packed).map(async ([name, entry]) => [
    name,
    pack(await bundle(entry, { ...esModule, define })),
  ])
  const PACKED = JSON.stringify(Object.fromEntries(await Promise.all(entries)))
  await write(outFile, await bundle('src/main.ts', { ...esModule, define: { PACKED } }))
}

/** The programs that import an app, as text: the agent writes them where the app is. */
export async function appRunners(): Promise<{ node: string; python: string }> {
  const node = Buffer.from(await bundle('src/apps/runner/main.ts', { format: 'esm' })).toString()
  return { node, python: await readFile(path('src/apps/runner/runner.py'), 'utf8') }
}

/** What runs inside the documents of a login, as text. */
async function loginPage(): Promise<string> {
  const source = await bundle('src/login/page/main.ts', {
    format: 'iife',
    globalName: 'loginPage',
    platform: 'browser',
    target: 'chrome140',
  })
  return Buffer.from(source).toString()
}

const pack = (source: Uint8Array) => brotliCompressSync(source).toString('base64')

/** Its first two numbers: clients and servers that share them understand each other. */
async function playwrightVersion(): Promise<string> {
  const text = await readFile(fileURLToPath(import.meta.resolve('playwright-core/package.json')), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  return version.split('.', 2).join('.')
}

/**
 * A separate file, because it is much larger than the agent and only a separate process reads it. `playwrightCore`: the
 * directory of another version than ours.
 */
export async function bundlePlaywrightRunner(outFile: string, playwrightCore?: string): Promise<void> {
  const runner = await bundle('src/playwright/entry.ts', {
    format: 'cjs',
    ...(playwrightCore !== undefined && { alias: { 'playwright-core': playwrightCore } }),
    loader: { '.wasm': 'binary' },
    // Asked for only by drivers of other browsers.
    external: ['chromium-bidi/*', 'electron/*'],
    plugins: [ownFilesOfPlaywright],
  })
  await write(outFile, runner)
}

const esModule: BuildOptions = {
  format: 'esm',
  // The websocket library is CommonJS, and asks for Node's own modules by require().
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///');" },
}

async function bundle(entry: string, options: BuildOptions): Promise<Uint8Array> {
  const { outputFiles } = await esbuild({
    platform: 'node',
    target: 'node24',
    ...options,
    entryPoints: [path(entry)],
    write: false,
    bundle: true,
    // The contract's constants come with its schemas, which the agent does not use: its checks are generated from them.
    plugins: [generatedChecks, ...(options.plugins ?? [])],
    alias: { typebox: path('src/checks/no-schemas.ts'), ...options.alias },
    // Stack traces stay readable; comments and blanks would only be parsed once more per instance.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  return outputFiles.at(0)!.contents
}

/** Playwright reads files of its package by paths that it computes; the bundle has them inside. */
const ownFilesOfPlaywright: Plugin = {
  name: 'own-files-of-playwright',
  setup(build) {
    build.onLoad({ filter: /\/lib\/coreBundle\.js$/ }, async ({ path: file }) => {
      const found: string[] = []
      const contents = (await readFile(file, 'utf8'))
        .replaceAll(
          /require\(\w+\.default\.join\(packageRoot, "(package|browsers)\.json"\)\)/g,
          (_all, name: string) => {
            found.push(name)
            return `require("../${name}.json")`
          },
        )
        // See runner/page.ts.
        .replace(
          /await (\w+)\._waitForAllPagesToBeInitialized\(\);/,
          'await (globalThis[Symbol.for("berth.untilPages")] ?? ((pages) => pages))($1._waitForAllPagesToBeInitialized());',
        )
        // Older versions do not have it.
        .replace(
          /\w+\.default\.readFileSync\(\w+\.default\.join\(__dirname, "(webp_codec\.wasm)"\)\)/,
          'require("./$1")',
        )
      if (found.toSorted().join() !== 'browsers,package') {
        throw new Error(`Cannot bundle Playwright: it reads other files than expected (${found.join()})`)
      }
      return { contents, loader: 'js' }
    })
  },
}

async function write(file: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, contents)
}

if (import.meta.main) {
  const [first, ...rest] = process.argv.slice(2)
  if (first === '--playwright') {
    const [playwrightCore, outFile] = rest as [string, string]
    await bundlePlaywrightRunner(outFile, playwrightCore)
  } else {
    const directory = first ?? path('dist')
    await bundleAgent(`${directory}/agent.mjs`)
    await bundlePlaywrightRunner(`${directory}/playwright.cjs`)
  }
}
