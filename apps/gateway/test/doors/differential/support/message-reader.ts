import { packetTypes } from '@crossgear/gearman-codec'

/** One packet or one line of text, as the bytes that came. */
export type Message =
  | { readonly kind: 'packet'; readonly name: string; readonly body: Buffer }
  | { readonly kind: 'text'; readonly body: Buffer }

const headerBytes = 12
const names = new Map<number, string>(packetTypes.map(({ code, name }) => [code, name]))

/**
 * Cuts what a server says into messages. It knows no more of the protocol than the header: what a
 * stricter reader would refuse is to be compared as well.
 */
export class MessageReader {
  #bytes: Buffer[] = []
  #length = 0
  #wanted = 1

  push(chunk: Buffer): Message[] {
    this.#bytes.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#wanted) return []
    let bytes = Buffer.concat(this.#bytes)
    const messages: Message[] = []
    for (let end = this.#endOf(bytes); end > 0; end = this.#endOf(bytes)) {
      messages.push(messageOf(bytes.subarray(0, end)))
      bytes = bytes.subarray(end)
    }
    this.#bytes = [bytes]
    this.#length = bytes.length
    return messages
  }

  /** The end of the first message; 0 if it is incomplete. */
  #endOf(bytes: Buffer): number {
    this.#wanted = 1
    if (bytes.length === 0) return 0
    if (bytes[0] !== 0) return bytes.indexOf(0x0a) + 1
    this.#wanted = bytes.length < headerBytes ? headerBytes : headerBytes + bytes.readUInt32BE(8)
    return bytes.length < this.#wanted ? 0 : this.#wanted
  }
}

function messageOf(bytes: Buffer): Message {
  if (bytes[0] !== 0) return { kind: 'text', body: bytes }
  const code = bytes.readUInt32BE(4)
  const magic = bytes.toString('latin1', 1, 4)
  const name = names.get(code) ?? `packet ${code}`
  return {
    kind: 'packet',
    name: magic === 'RES' ? name : `${magic} ${name}`,
    body: bytes.subarray(headerBytes),
  }
}
