// Compiles AssemblyScript when its source has changed. The compiler is a hundred megabytes for a few hundred lines that
// change once a year, so it is fetched then, and is no dependency: that source and result belong together is told by the
// hash that stands in the result.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const COMPILER = 'assemblyscript@0.28.20'
const OPTIONS = '--runtime stub --noAssert -O3 --converge --enable simd --importMemory'.split(' ')

/** The module that has the program, as it is or made anew; undefined when it would have to be made, and must not be. */
export function assembled(
  source: string,
  { name, current, isCheck }: { name: string; current: string | undefined; isCheck: boolean },
): string | undefined {
  const hash = createHash('sha256').update(readFileSync(source)).update(COMPILER).digest('hex')
  if (current?.includes(hash)) return current
  return isCheck ? undefined : moduleOf(name, compile(source), hash)
}

function moduleOf(name: string, program: Buffer, hash: string): string {
  const lines = program.toString('base64').match(/.{1,110}/g)!
  return `// Made by \`npm run generate\`, of source ${hash}.

/** A program in WebAssembly, in base64. */
export const ${name} =
${lines.map((line) => `  '${line}'`).join(' +\n')}
`
}

function compile(source: string): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'berth-assembly-'))
  try {
    const [entry, result] = [join(directory, 'entry.ts'), join(directory, 'result.wasm')]
    copyFileSync(source, entry)
    const command = ['exec', '--yes', `--package=${COMPILER}`, '--', 'asc', entry, '-o', result, ...OPTIONS]
    execFileSync('npm', command, { cwd: directory, stdio: 'inherit' })
    return readFileSync(result)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
