// The certificates of the cluster. Every client and server in it has one, and this authority signs them all.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './commands.ts'

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '7']

export interface Certified {
  readonly certificate: string
  readonly key: string
}

export class Authority {
  readonly #directory: string
  readonly #api: string
  readonly certificate: string

  /** `api`: where clients reach the API of the cluster. */
  constructor(directory: string, api: string) {
    mkdirSync(directory, { recursive: true })
    this.#directory = directory
    this.#api = api
    this.certificate = join(directory, 'ca.crt')
    // OpenSSL's own configuration would make every certificate one of an authority.
    writeFileSync(this.#path('openssl.cnf'), '[req]\ndistinguished_name = name\n[name]\n')
    this.#request('ca', ['-subj', '/CN=berth-test', '-addext', 'basicConstraints=critical,CA:TRUE'])
  }

  /** `names`: what clients call this server, such as `IP:10.0.0.1`. */
  issue(name: string, subject: string, names: readonly string[] = []): Certified {
    this.#request(name, [
      '-CA',
      this.certificate,
      '-CAkey',
      this.#path('ca.key'),
      '-subj',
      subject,
      '-addext',
      'basicConstraints=critical,CA:FALSE',
      '-addext',
      'extendedKeyUsage=serverAuth,clientAuth',
      ...(names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`]),
    ])
    return { certificate: this.#path(`${name}.crt`), key: this.#path(`${name}.key`) }
  }

  /** Returns its file. */
  kubeconfig(name: string, subject: string): string {
    const { certificate, key } = existsSync(this.#path(`${name}.crt`))
      ? { certificate: this.#path(`${name}.crt`), key: this.#path(`${name}.key`) }
      : this.issue(name, subject)
    const file = this.#path(`${name}.conf`)
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: this.#api, 'certificate-authority': this.certificate } }],
      users: [{ name: 'u', user: { 'client-certificate': certificate, 'client-key': key } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    writeFileSync(file, JSON.stringify(config, undefined, 1))
    return file
  }

  /** Returns its private and public part: what service accounts show is signed with it. */
  accountKey(): { readonly secret: string; readonly shown: string } {
    const secret = this.#path('accounts.key')
    const shown = this.#path('accounts.pub')
    run(['openssl', 'genrsa', '-out', secret, '2048'])
    run(['openssl', 'rsa', '-in', secret, '-pubout', '-out', shown])
    return { secret, shown }
  }

  #request(name: string, options: readonly string[]): void {
    const files = ['-keyout', this.#path(`${name}.key`), '-out', this.#path(`${name}.crt`)]
    run(['openssl', 'req', '-x509', '-config', this.#path('openssl.cnf'), ...NEW_KEY, ...files, ...options])
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }
}
