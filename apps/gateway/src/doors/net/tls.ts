import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { oneLine, StartError, systemCode } from '../../errors.ts'

/** Files for a TLS port, as the operator named them. */
export interface TlsFiles {
  readonly cert: string | undefined
  readonly key: string | undefined
  /** Authorities whose client certificates are accepted. */
  readonly ca?: string | undefined
  /** Clients without a certificate are rejected. false. */
  readonly requireClientCert?: boolean
}

/** The option for each file, for the error line. */
export interface TlsFlags {
  readonly cert: string
  readonly key: string
  readonly ca?: string
  readonly requireClientCert?: string
}

/** TLS material of a listening port: checked PEM texts. */
export interface TlsOptions {
  readonly cert: Buffer
  readonly key: Buffer
  /** With it clients are asked for a certificate, and one that it did not sign is refused. */
  readonly ca?: Buffer
  /** Clients without a certificate are rejected. false. */
  readonly requireClientCert?: boolean
  /** Time for a client's handshake, milliseconds. 10000. */
  readonly handshakeMs?: number
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Reads and checks the files; undefined if none is named.
 *
 * @throws StartError (code 2) for files that no TLS port could use.
 */
export function readTls(files: TlsFiles, flags: TlsFlags): TlsOptions | undefined {
  const { cert, key, ca, requireClientCert = false } = files
  if (requireClientCert && ca === undefined) {
    throw new StartError(`${flags.requireClientCert ?? ''} needs ${flags.ca ?? ''} as well.`, 2)
  }
  if (cert === undefined && key === undefined) {
    if (ca === undefined) return undefined
    throw new StartError(`${flags.ca ?? ''} needs ${flags.cert} and ${flags.key} as well.`, 2)
  }
  if (cert === undefined) throw new StartError(`${flags.key} needs ${flags.cert} as well.`, 2)
  if (key === undefined) throw new StartError(`${flags.cert} needs ${flags.key} as well.`, 2)
  const certBytes = readPem(cert, flags.cert)
  const keyBytes = readPem(key, flags.key)
  const [own] = certificatesOf(certBytes, cert, flags.cert)
  if (!own?.checkPrivateKey(privateKeyOf(keyBytes, key, flags.key))) {
    throw new StartError(`The key ${key} does not belong to the certificate ${cert}.`, 2)
  }
  if (ca === undefined) return { cert: certBytes, key: keyBytes }
  const caBytes = readAuthorities(ca, flags.ca ?? '')
  return { cert: certBytes, key: keyBytes, ca: caBytes, requireClientCert }
}

/**
 * Reads and checks the certificates of authorities.
 *
 * @throws StartError (code 2)
 */
export function readAuthorities(path: string, flag: string): Buffer {
  const bytes = readPem(path, flag)
  certificatesOf(bytes, path, flag)
  return bytes
}

function readPem(path: string, flag: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const reason = systemCode(error) || oneLine(error)
    throw new StartError(`${flag} names ${path}, which cannot be read (${reason}).`, 2, {
      cause: error,
    })
  }
}

/** The certificates of a PEM text. Throws for a damaged one. */
export function certificatesIn(bytes: Buffer): readonly X509Certificate[] {
  const blocks = bytes.toString('latin1').match(pemBlock) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

function certificatesOf(bytes: Buffer, path: string, flag: string): readonly X509Certificate[] {
  try {
    const found = certificatesIn(bytes)
    if (found.length > 0) return found
  } catch (error) {
    throw new StartError(`${flag} names ${path}, which is damaged: ${oneLine(error)}.`, 2, {
      cause: error,
    })
  }
  throw new StartError(`${flag} names ${path}, which has no PEM certificate.`, 2)
}

function privateKeyOf(bytes: Buffer, path: string, flag: string): KeyObject {
  try {
    return createPrivateKey(bytes)
  } catch (error) {
    const isLocked = systemCode(error) === 'ERR_MISSING_PASSPHRASE'
    const fault = isLocked ? 'is locked with a passphrase: unlock it' : 'has no PEM private key'
    throw new StartError(`${flag} names ${path}, which ${fault}.`, 2, { cause: error })
  }
}

export type HandshakeFault = 'tls_handshake' | 'tls_slow'

/** Time for a client's handshake, milliseconds. */
export const defaultHandshakeMs = 10_000

/** Why a handshake failed, by the error of `tlsClientError`. */
export function handshakeFaultOf(error: Error): HandshakeFault {
  return systemCode(error) === 'ERR_TLS_HANDSHAKE_TIMEOUT' ? 'tls_slow' : 'tls_handshake'
}

/** Events of a TLS server's connections. */
export interface TlsEvents {
  /** Before the handshake. */
  readonly accepted: (socket: Socket) => void
  /** After it. */
  readonly secured: (socket: TLSSocket) => void
  /** The handshake failed or took too long, or the client's certificate was refused. */
  readonly failed: (reason: HandshakeFault, address: string | undefined) => void
}

export function createTlsServer(options: TlsOptions, events: TlsEvents): Server {
  const { cert, key, ca, requireClientCert = false, handshakeMs = defaultHandshakeMs } = options
  const server = createServer(
    {
      cert,
      key,
      ...(ca === undefined ? {} : { ca }),
      requestCert: ca !== undefined,
      rejectUnauthorized: requireClientCert,
      handshakeTimeout: handshakeMs,
      noDelay: true,
    },
    (socket) => {
      if (ca === undefined || socket.authorized || !socket.getPeerX509Certificate()) {
        events.secured(socket)
        return
      }
      events.failed('tls_handshake', socket.remoteAddress)
      socket.destroy()
    },
  )
  server.on('connection', events.accepted)
  server.on('tlsClientError', (error, socket) => {
    events.failed(handshakeFaultOf(error), socket.remoteAddress)
    socket.destroy()
  })
  return server
}
