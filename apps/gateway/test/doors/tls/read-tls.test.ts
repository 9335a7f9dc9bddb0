import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StartError } from '../../../src/errors.ts'
import { readTls, type TlsFiles } from '../../../src/doors/net/tls.ts'
import { lacksOpenssl, makeCertificates, type Certificates } from './support/certificates.ts'

const flags = { cert: '--cert', key: '--key', ca: '--ca', requireClientCert: '--verify' }
const nothing = { cert: undefined, key: undefined }

function refusal(files: TlsFiles): string {
  try {
    readTls(files, flags)
  } catch (error) {
    if (error instanceof StartError && error.exitCode === 2) return error.message
    throw error
  }
  return 'taken'
}

describe('TLS files', () => {
  test('that are not given mean no TLS', () => expect(readTls(nothing, flags)).toBeUndefined())

  test.each([
    [{ ...nothing, cert: '/c' }, '--cert needs --key as well.'],
    [{ ...nothing, key: '/k' }, '--key needs --cert as well.'],
    [{ ...nothing, ca: '/a' }, '--ca needs --cert and --key as well.'],
    [{ cert: '/c', key: '/k', requireClientCert: true }, '--verify needs --ca as well.'],
    [{ cert: '/no/such', key: '/k' }, '--cert names /no/such, which cannot be read (ENOENT).'],
  ])('%j are refused in one line', (files, line) => expect(refusal(files)).toBe(line))
})

describe.skipIf(lacksOpenssl)('certificates of openssl', () => {
  const file = ({ folder }: Certificates, text: string): string => {
    const path = join(folder, 'made.pem')
    writeFileSync(path, text)
    return path
  }

  test('that belong together are taken', async () => {
    const { server, ca } = await makeCertificates()
    expect(refusal({ ...server, ca: ca.cert, requireClientCert: true })).toBe('taken')
  })

  test('with the key of another are refused', async () => {
    const { server, ca } = await makeCertificates()
    const line = refusal({ cert: server.cert, key: ca.key })
    expect(line).toBe(`The key ${ca.key} does not belong to the certificate ${server.cert}.`)
  })

  test('that are invalid are refused', async () => {
    const all = await makeCertificates()
    const { server } = all
    const empty = file(all, '')
    expect(refusal({ ...server, cert: empty })).toBe(
      `--cert names ${empty}, which has no PEM certificate.`,
    )
    expect(refusal({ ...server, key: empty })).toBe(
      `--key names ${empty}, which has no PEM private key.`,
    )
    expect(refusal({ ...server, ca: empty })).toBe(
      `--ca names ${empty}, which has no PEM certificate.`,
    )
    file(all, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
    expect(refusal({ ...server, cert: empty })).toContain(`--cert names ${empty}, which is damaged`)
  })
})
