import { hash, timingSafeEqual } from 'node:crypto'

/**
 * The hash for a password in HELLO: SHA-256 of password and salt, hashed again until `iterations` hashes are done, in
 * lower-case hexadecimal. A thousand take about a millisecond: a server with a fixed challenge should cache its hash.
 *
 * @throws RangeError below one iteration
 */
export function hashPassword(password: string, salt: string, iterations: number): string {
  if (!Number.isInteger(iterations) || iterations < 1) {
    throw new RangeError(`iterations must be at least 1, not ${iterations}`)
  }
  let digest = hash('sha256', password + salt, 'buffer')
  for (let done = 1; done < iterations; done++) digest = hash('sha256', digest, 'buffer')
  return digest.toString('hex')
}

/** True if `pwdhash` is the hash of the password. The comparison takes constant time. */
export function verifyPassword(
  pwdhash: string | undefined,
  password: string,
  salt: string,
  iterations: number,
): boolean {
  return isSameHash(pwdhash, hashPassword(password, salt, iterations))
}

/** Compares two hashes in constant time, whatever their lengths. */
export function isSameHash(pwdhash: string | undefined, expected: string): boolean {
  const given = hash('sha256', pwdhash ?? '', 'buffer')
  return timingSafeEqual(given, hash('sha256', expected, 'buffer')) && pwdhash !== undefined
}
