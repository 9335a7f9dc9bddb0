import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** The cost of a hash, as scrypt has it: `logN` is the binary logarithm of N. */
export interface ScryptCost {
  readonly logN: number
  readonly r: number
  readonly p: number
}

/** A password that only those who know it can prove. */
export interface PasswordHash {
  readonly cost: ScryptCost
  readonly salt: Buffer
  readonly key: Buffer
}

/** Most memory that one login takes, bytes: 128 N r. */
const maxMemoryBytes = 64 * 1024 * 1024
const minLogN = 14
const maxP = 4
const keyBytes = 32
const minSaltBytes = 16
/** Of new hashes: 32 MiB, and some 0.3 s of one core. */
export const usualCost: ScryptCost = { logN: 15, r: 8, p: 3 }

const form = /^scrypt:(\d{1,2}):(\d{1,2}):(\d):([\w-]{22,64}):([\w-]{43})$/

/** Reads `scrypt:<log2 N>:<r>:<p>:<salt>:<key>`, both in base64url; undefined for anything else, or a cost out of bounds. */
export function readPasswordHash(text: string): PasswordHash | undefined {
  const [, logN, r, p, salt = '', key = ''] = form.exec(text) ?? []
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) }
  const isCost = cost.logN >= minLogN && cost.r >= 1 && cost.p >= 1 && cost.p <= maxP
  return isCost && 128 * 2 ** cost.logN * cost.r <= maxMemoryBytes
    ? { cost, salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url') }
    : undefined
}

/** The text of a new hash. */
export async function hashPassword(password: string, cost = usualCost): Promise<string> {
  const salt = randomBytes(minSaltBytes)
  const key = await keyOf(password, salt, cost)
  const { logN, r, p } = cost
  return ['scrypt', logN, r, p, salt.toString('base64url'), key.toString('base64url')].join(':')
}

/** True for the password of the hash. Node's threads work on it. */
export async function isPasswordOf(
  password: string,
  { cost, salt, key }: PasswordHash,
): Promise<boolean> {
  return timingSafeEqual(await keyOf(password, salt, cost), key)
}

/** A hash that no password has, at the usual cost. */
export function nobodysHash(): PasswordHash {
  return { cost: usualCost, salt: randomBytes(minSaltBytes), key: randomBytes(keyBytes) }
}

function keyOf(password: string, salt: Buffer, { logN, r, p }: ScryptCost): Promise<Buffer> {
  const options = { N: 2 ** logN, r, p, maxmem: 2 * maxMemoryBytes }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, keyBytes, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
