const root = new URL('../api/v1/', import.meta.url)

/** @typedef {Readonly<Record<string, string | number | boolean | undefined>>} Query */

/** Time that a call which is refused as one too many waits altogether, ms. */
const patienceMs = 30_000

/** Said of a gateway that knows less than the page, such as one of several behind one address. */
const formerWords =
  'The gateway that answered is of a former version, which cannot tell this: upgrade all gateways.'

/** A refusal of the API, with its words. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** @param {string} path below `/api/v1` */
export function apiUrl(path) {
  return new URL(path.replace(/^\//, ''), root).href
}

/** Calls the API of the gateway that served the page. */
export class Api {
  /** @param {() => void} onUnauthorized called when a password is needed */
  constructor(onUnauthorized) {
    this.onUnauthorized = onUnauthorized
  }

  /**
   * @param {string} path
   * @param {Query} [query] without what is undefined or empty
   * @param {AbortSignal} [signal]
   * @returns {Promise<unknown>}
   */
  get(path, query = {}, signal) {
    const words = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') words.set(name, String(value))
    }
    const text = words.toString()
    return this.#call(`${path}${text && `?${text}`}`, signal ? { signal } : {})
  }

  /**
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<unknown>}
   */
  post(path, body = {}) {
    const headers = { 'Content-Type': 'application/json' }
    return this.#call(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /**
   * @param {string} path
   * @returns {Promise<unknown>}
   */
  delete(path) {
    return this.#call(path, { method: 'DELETE' })
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   */
  async #call(path, init) {
    for (let leftMs = patienceMs; ;) {
      const answer = await answered(path, init)
      /** @type {unknown} */
      const body = await answer.json().catch(() => null)
      if (answer.ok) return body
      const refusal = refusalOf(answer.status, body)
      if (refusal.code === 'unauthorized') this.onUnauthorized()
      const waitMs = Math.max(1, Number(answer.headers.get('Retry-After')) || 0) * 1000
      if (refusal.code !== 'too_many_requests' || waitMs > leftMs) throw refusal
      leftMs -= waitMs
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

/**
 * @param {string} path
 * @param {RequestInit} init
 */
async function answered(path, init) {
  try {
    return await fetch(apiUrl(path), { ...init, credentials: 'same-origin', cache: 'no-store' })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Refusal(0, 'unreachable', 'The gateway does not answer.')
  }
}

/**
 * @param {number} status
 * @param {unknown} body
 */
export function refusalOf(status, body) {
  const { error } = /** @type {{ error?: { code?: unknown, message?: unknown } }} */ (body ?? {})
  const message = typeof error?.message === 'string' ? error.message : `status ${status}`
  if (error?.code === 'not_found' && message.startsWith('no such operation')) {
    return new Refusal(status, 'former_version', formerWords)
  }
  return new Refusal(status, typeof error?.code === 'string' ? error.code : 'unknown', message)
}

/**
 * The code of a refusal, or `unknown`.
 *
 * @param {unknown} error
 */
export function codeOf(error) {
  return error instanceof Refusal ? error.code : 'unknown'
}

/** @param {unknown} error */
export function wordsOf(error) {
  const words = error instanceof Error ? error.message : String(error)
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`
}

/**
 * An address within the API, with a name as one part of its path.
 *
 * @param {string} start
 * @param {string} name
 * @param {string} [end]
 */
export function pathWith(start, name, end = '') {
  return `${start}/${encodeURIComponent(name)}${end}`
}
