import type { FastifyInstance } from 'fastify'
import { type Asset, assetPrefix, readAssets } from './assets.ts'
import { EncodedAssets } from './encodings.ts'

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
