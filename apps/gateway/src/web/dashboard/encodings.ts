import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Asset } from './assets.ts'

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)]

/** A smaller level than the best: a tenth of its time for 8 % more bytes. */
const brotliLevel = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } } as const

type Encoding = 'br' | 'gzip' | 'identity'

/** In the order in which they are chosen. */
const encoders: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => brotli(body, brotliLevel),
  gzip: (body) => zip(body, { level: 9 }),
  identity: (body) => Promise.resolve(body),
}

/** One form of a file. */
export interface Encoded {
  readonly encoding: Encoding
  /** Differs with the encoding: the bytes do. */
  readonly etag: string
  readonly body: Promise<Buffer>
}

/** Forms of files, each made when it is first asked for. */
export class EncodedAssets {
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
