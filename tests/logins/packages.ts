// Installs packages into a separate directory and does not change those of the machine.
import { mkdir, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './processes.ts'

/** `overrides` has the format of package.json. */
export async function installFromNpm(
  directory: string,
  packages: readonly string[],
  overrides: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true, overrides }))
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await run({ command: 'npm', args: ['install', ...options, ...packages], cwd: directory })
}

/** Returns the path of a Python that finds the packages. */
export async function installFromPypi(directory: string, packages: readonly string[]): Promise<string> {
  await run({ command: 'python3', args: ['-m', 'venv', 'venv'], cwd: directory })
  const python = join(directory, 'venv', 'bin', 'python')
  // pip would try an unreachable index six times for each package.
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '0']
  await run({ command: python, args: ['-m', 'pip', 'install', ...options, ...packages], cwd: directory })
  return python
}

/** Unpacks Debian packages without installing them. Returns the root of the tree; absolute links stay inside the tree. */
export async function unpackFromDebian(directory: string, packages: readonly string[]): Promise<string> {
  const root = join(directory, 'root')
  await mkdir(root, { recursive: true })
  await run({ command: 'apt-get', args: ['download', '-qq', ...packages], cwd: directory })
  const files = await readdir(directory)
  for (const file of files.filter((name) => name.endsWith('.deb'))) {
    await run({ command: 'dpkg-deb', args: ['-x', file, root], cwd: directory })
  }
  await turnLinksInside(root, root)
  return root
}

/** The environment in which programs of an unpacked tree find their libraries. */
export function librariesOf(root: string): { readonly LD_LIBRARY_PATH: string } {
  return { LD_LIBRARY_PATH: `${root}/usr/lib/x86_64-linux-gnu:${root}/lib/x86_64-linux-gnu` }
}

async function turnLinksInside(root: string, directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await turnLinksInside(root, path)
    if (!entry.isSymbolicLink()) continue
    const target = await readlink(path)
    if (!target.startsWith('/') || !existsSync(join(root, target))) continue
    await rm(path)
    await symlink(join(root, target), path)
  }
}
