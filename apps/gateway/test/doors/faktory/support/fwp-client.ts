import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { hashPassword } from '@crossgear/fwp-codec'
import { onTestFinished } from 'vitest'

interface Challenge {
  readonly i: number
  readonly s: string
}

/** A PUSH of type `t` without args, unless the fields say otherwise. */
export function pushLine(jid: string, fields: object = {}): string {
  return `PUSH ${JSON.stringify({ jid, jobtype: 't', args: [], ...fields })}`
}

/** A client that sends lines and reads replies as the bytes they are. */
export class FwpClient {
  readonly #socket: Socket
  readonly #waiting: (() => void)[] = []
  #received = Buffer.alloc(0)
  #ended = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#resume()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#ended = true
      this.#resume()
    })
  }

  static async connect(port: number): Promise<FwpClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const client = new FwpClient(socket)
    await once(socket, 'connect')
    return client
  }

  /** Greets and says HELLO with these fields beside the version. */
  static async greeted(port: number, hello: object = {}): Promise<FwpClient> {
    const client = await FwpClient.connect(port)
    await client.reply()
    const answer = await client.ask(`HELLO ${JSON.stringify({ v: 2, ...hello })}`)
    if (answer !== '+OK') throw new Error(`HELLO was answered ${answer}`)
    return client
  }

  /** A client that has proved to know the password. Throws the refusal. */
  static async loggedIn(port: number, password: string, wid: string): Promise<FwpClient> {
    const client = await FwpClient.connect(port)
    const answer = await client.logIn(password, { wid })
    if (answer === '+OK') return client
    client.close()
    throw new Error(answer)
  }

  /** A client that has said nothing, and is closed when the test ends. */
  static async strangerOfTest(port: number): Promise<FwpClient> {
    const client = await FwpClient.connect(port)
    onTestFinished(() => client.close())
    return client
  }

  /** A client that has said HELLO, and is closed when the test ends. */
  static async ofTest(port: number, hello?: object): Promise<FwpClient> {
    const client = await FwpClient.greeted(port, hello)
    onTestFinished(() => client.close())
    return client
  }

  send(...lines: readonly string[]): void {
    this.#socket.write(lines.map((line) => `${line}\r\n`).join(''))
  }

  sendRaw(bytes: string | Buffer): void {
    this.#socket.write(bytes)
  }

  async ask(line: string): Promise<string> {
    this.send(line)
    return this.reply()
  }

  /** The challenge of the greeting of a server with a password. */
  async challenge(): Promise<Challenge> {
    const hi = await this.reply()
    if (!/^\+HI \{"v":2,"i":\d+,"s":"[0-9a-f]+"\}$/.test(hi))
      throw new Error(`the greeting was ${hi}`)
    return JSON.parse(hi.slice('+HI '.length)) as Challenge
  }

  /** Says HELLO as one who knows the password of a challenge; returns the answer. */
  prove(password: string, { i, s }: Challenge, hello: object = {}): Promise<string> {
    const pwdhash = hashPassword(password, s, i)
    return this.ask(`HELLO ${JSON.stringify({ v: 2, pwdhash, ...hello })}`)
  }

  /** Reads the greeting and says HELLO with the password; returns the answer. */
  async logIn(password: string, hello?: object): Promise<string> {
    return this.prove(password, await this.challenge(), hello)
  }

  /** A bulk reply that is JSON. */
  async askJson(line: string): Promise<Record<string, never>> {
    const reply = await this.ask(line)
    const body = /^\$\d+\r\n([\s\S]*)$/.exec(reply)?.[1]
    if (body === undefined) throw new Error(`${line} was answered ${reply}`)
    return JSON.parse(body) as Record<string, never>
  }

  push(jid: string, fields?: object): Promise<string> {
    return this.ask(pushLine(jid, fields))
  }

  /** Pushes a job and fetches the next of its queue, which must be there. */
  async pushAndFetch(
    jid: string,
    fields: { readonly queue?: string; readonly [name: string]: unknown } = {},
  ): Promise<Record<string, never>> {
    await this.push(jid, fields)
    return this.askJson(fields.queue === undefined ? 'FETCH' : `FETCH ${fields.queue}`)
  }

  /** One reply without its end: `+OK`, `-ERR ...`, `$-1`, `$<bytes> CRLF body`. */
  async reply(): Promise<string> {
    for (;;) {
      const reply = this.#take()
      if (reply !== undefined) return reply
      if (this.#ended) throw new Error('connection closed')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Settles when the server has closed; what came last and was not read. */
  async closed(): Promise<string> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.#received.toString()
  }

  /** Closes its own half, as `nc -N` does when its input ends. */
  end(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(): string | undefined {
    const lineEnd = this.#received.indexOf('\r\n')
    if (lineEnd < 0) return undefined
    const line = this.#received.toString('utf8', 0, lineEnd)
    const bytes = line.startsWith('$') ? Number(line.slice(1)) : -1
    const end = bytes < 0 ? lineEnd : lineEnd + 2 + bytes
    if (this.#received.length < end + 2) return undefined
    const reply = this.#received.toString('utf8', 0, end)
    this.#received = this.#received.subarray(end + 2)
    return reply
  }

  #resume(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
