// Compiles AssemblyScript into modules that hold the program as text. Compiling takes seconds, so a check compares only
// the hash in the module: it covers the source, the compiler with its options, and the program itself.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const OPTIONS = '--runtime stub --noAssert -O3 --converge --enable simd --importMemory'.split(' ')
const MAX_LINE = 110

const manifest = createRequire(import.meta.url).resolve('assemblyscript/package.json')

/** Returns the up-to-date module; undefined: it is out of date, and a check does not compile it. */
export function assembled(
  source: string,
  { name, current, isCheck }: { name: string; current: string | undefined; isCheck: boolean },
): string | undefined {
  const known = current && programIn(current)
  if (known && current === moduleOf(name, known, source)) return current
  return isCheck ? undefined : moduleOf(name, compile(source), source)
}

function moduleOf(name: string, program: string, source: string): string {
  const lines = program.match(new RegExp(`.{1,${MAX_LINE}}`, 'g'))!
  return `// Made by \`npm run generate\`, of source ${hashOf(source, program)}.

/** A program in WebAssembly, in base64. */
export const ${name} =
${lines.map((line) => `  '${line}'`).join(' +\n')}
`
}

function programIn(module: string): string {
  return [...module.matchAll(/^ {2}'([\w+/=]+)'/gm)].map(([, line]) => line).join('')
}

function hashOf(source: string, program: string): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  const hash = createHash('sha256').update(readFileSync(source))
  return hash.update(`${version} ${OPTIONS.join(' ')} ${program}`).digest('hex')
}

/** Returns the program in base64. The compiler also checks the types and fails when they are wrong. */
function compile(source: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'berth-assembly-'))
  try {
    // The compiler accepts only files that end in .ts.
    const [entry, result] = [join(directory, 'entry.ts'), join(directory, 'result.wasm')]
    copyFileSync(source, entry)
    const compiler = join(dirname(manifest), 'bin', 'asc.js')
    execFileSync(process.execPath, [compiler, entry, '-o', result, ...OPTIONS], {
      cwd: directory,
      stdio: 'inherit',
    })
    return readFileSync(result).toString('base64')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
