// The software bill of materials (CycloneDX) of what `npm start` installs. We build it from the lockfiles and do not
// use `npm sbom`, because its result depends on the version of npm and on the name of the folder.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import systemPackages from './system-packages.json' with { type: 'json' }

export const BILL_OF_MATERIALS = 'sbom.json'

interface LockedPackage {
  readonly version?: string
  readonly name?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly optional?: boolean
}

export function billOfMaterials(root: string): string {
  const locks = ['package-lock.json', 'scripts/node/package-lock.json']
  const components = locks.flatMap((file) => {
    const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
      packages: Record<string, LockedPackage>
    }
    return Object.entries(packages)
      .filter(([path, locked]) => path.includes('node_modules/') && !locked.dev && !locked.link)
      .map(([path, locked]) => npmComponent(locked.name ?? path.split('node_modules/').at(-1)!, locked))
  })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': 'berth', name: 'berth', version } },
    components: [...unique(components), ...systemPackages.map(debianComponent)],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

function npmComponent(name: string, { version, integrity = '', license, optional }: LockedPackage) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [, sha512] = /^sha512-(.+)$/.exec(integrity) ?? []
  if (sha512 === undefined) throw new Error(`Cannot list ${name}: it has no SHA-512 in the lockfile`)
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    scope: optional ? 'optional' : 'required',
    purl,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }],
    ...(license !== undefined && { licenses: [{ expression: license }] }),
  }
}

/** Without a version: each machine has its own version of a Debian package. */
function debianComponent({ package: name }: { readonly package: string }) {
  const purl = `pkg:deb/debian/${name}`
  return { type: 'application', 'bom-ref': purl, name, scope: 'required', purl }
}

/** npm may install one version in several places. */
function unique<T extends { purl: string }>(components: readonly T[]): T[] {
  const byUrl = new Map(components.map((component) => [component.purl, component]))
  return [...byUrl.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
}
