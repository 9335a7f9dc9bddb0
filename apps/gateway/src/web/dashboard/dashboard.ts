import type { FastifyInstance } from 'fastify'
import { type Asset, assetPrefix, readAssets } from './assets.ts'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Nothing but what this server has, and no script or style in the page itself. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** A browser asks each time if its copy is the newest: an upgraded gateway has other files. */
const headers = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
} as const

/** The dashboard at `/`: static files without a secret; whatever they show comes from the API. */
export function dashboardRoutes(app: FastifyInstance): void {
  let assets: ReadonlyMap<string, Asset> | undefined
  const encoded = new EncodedAssets()
  for (const path of ['/', `${assetPrefix}/*`]) {
    app.get(path, async (request, reply) => {
      // Read at the first request: most gateways are never visited.
      assets ??= readAssets()
      const asset = assets.get(request.url.split('?', 1)[0] ?? '')
      if (!asset) {
        reply.callNotFound()
        return reply
      }
      const { encoding, etag, body } = encoded.form(asset, request.headers['accept-encoding'])
      reply.headers({ ...headers, ETag: etag })
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
      if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
      return reply.type(asset.type).send(await body)
    })
  }
}

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)]

/** A smaller level than the best: a tenth of its time for 8 % more bytes. */
const brotliLevel = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } } as const

type Encoding = 'br' | 'gzip' | 'identity'

/** Encoders, in the order in which they are chosen. */
const encoders: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => brotli(body, brotliLevel),
  gzip: (body) => zip(body, { level: 9 }),
  identity: (body) => Promise.resolve(body),
}

/** One form of a file. */
interface Encoded {
  readonly encoding: Encoding
  /** The entity tag, which differs with the encoding: the bytes do. */
  readonly etag: string
  readonly body: Promise<Buffer>
}

/** Forms of files, each made when it is first asked for. */
class EncodedAssets {
  readonly #made = new WeakMap<Asset, Map<Encoding, Promise<Buffer>>>()

  /** @param accepted The header Accept-Encoding. */
  form(asset: Asset, accepted: string | undefined): Encoded {
    const encoding = chosenOf(accepted)
    const forms = this.#made.get(asset) ?? new Map<Encoding, Promise<Buffer>>()
    this.#made.set(asset, forms)
    const body = forms.get(encoding) ?? encoders[encoding](asset.body)
    forms.set(encoding, body)
    const suffix = encoding === 'identity' ? '' : `-${encoding}`
    return { encoding, etag: `"${asset.hash}${suffix}"`, body }
  }
}

/** The best encoding that a browser takes; one with `q=0` it does not take. */
function chosenOf(accepted = ''): Encoding {
  const taken = new Set(
    accepted.split(',').flatMap((part) => {
      const [name = '', ...terms] = part.toLowerCase().replaceAll(/\s/g, '').split(';')
      return terms.some((term) => /^q=0(\.0*)?$/.test(term)) ? [] : [name]
    }),
  )
  return (['br', 'gzip'] as const).find((name) => taken.has(name)) ?? 'identity'
}
