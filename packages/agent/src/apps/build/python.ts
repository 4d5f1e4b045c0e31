// Prepares a Python app: the host's pip installs the packages of requirements.txt or pyproject.toml next to it.
import { join } from 'node:path'
import type { StepOptions } from './node.ts'
import { BuildFailed, lines } from './program.ts'
import { pathExists } from '../../user/path-exists.ts'

const PYTHON = '/usr/bin/python3'
/** Lists the dependencies of the project, so that pip does not have to build the project itself. */
const READ_DEPENDENCIES = `import tomllib
with open("pyproject.toml", "rb") as file:
    for line in tomllib.load(file).get("project", {}).get("dependencies", []):
        print(line)`

export async function* installPythonPackages(options: StepOptions): AsyncGenerator<string> {
  const { order, places, env, signal } = options
  const { root } = places
  if (!pathExists(PYTHON)) {
    throw new BuildFailed(
      'Cannot run Python: the host of this server has no python3; its operator can install it',
    )
  }
  const wanted: string[] = []
  if (pathExists(join(root, 'requirements.txt'))) wanted.push('-r', 'requirements.txt')
  else if (pathExists(join(root, 'pyproject.toml'))) {
    const command = [PYTHON, '-c', READ_DEPENDENCIES]
    for await (const line of lines('read pyproject.toml', { command, cwd: root, env, signal })) {
      if (line.trim() !== '') wanted.push(line)
    }
  }
  if (wanted.length === 0) return
  yield `pip install ${wanted.join(' ')}`
  yield* lines('install the packages', {
    command: [
      PYTHON,
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-input',
      '--no-cache-dir',
      '--index-url',
      order.pythonIndex,
      '--target',
      places.pythonPackages,
      ...wanted,
    ],
    cwd: root,
    env,
    signal,
  })
}
