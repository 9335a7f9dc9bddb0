import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Lacking, lacks } from '@crossgear/tools/lacks'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** True where there is no openssl to make certificates with. A build machine must have it. */
export const lacksOpenssl: Lacking = lacks('openssl', 'version')

export interface Certificates {
  readonly folder: string
  /** Self-signed, for 127.0.0.1. */
  readonly server: KeyPair
  readonly ca: KeyPair
  /** Signed by `ca`. */
  readonly client: KeyPair
  /** Signed by nobody that counts. */
  readonly stranger: KeyPair
}

export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** Fresh certificates in the folder, or in one that is gone after the test. */
export async function makeCertificates(where?: string): Promise<Certificates> {
  const folder = where ?? (await temporaryFolder())
  const openssl = (...words: readonly string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' })
  }
  const pair = (name: string): KeyPair => ({
    cert: join(folder, `${name}.crt`),
    key: join(folder, `${name}.key`),
  })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const selfSigned = (name: string, ...more: readonly string[]): void => {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`]
    openssl('req', '-x509', ...newKey, ...files, '-days', '2', '-subj', `/CN=${name}`, ...more)
  }
  selfSigned('server', '-addext', 'subjectAltName=IP:127.0.0.1')
  selfSigned('ca')
  selfSigned('stranger')
  const request = ['-keyout', 'client.key', '-out', 'client.csr', '-subj', '/CN=client']
  openssl('req', ...newKey, ...request)
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2']
  openssl('x509', '-req', '-in', 'client.csr', '-out', 'client.crt', ...signing)
  return {
    folder,
    server: pair('server'),
    ca: pair('ca'),
    client: pair('client'),
    stranger: pair('stranger'),
  }
}
