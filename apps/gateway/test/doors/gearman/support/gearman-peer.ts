import {
  type Argument,
  encode,
  type Packet,
  type PacketName,
  type TextLine,
} from '@crossgear/gearman-codec'
import { connected, GearmanConnection } from '@crossgear/peers'
import { onTestFinished } from 'vitest'

/** One connection that sends and receives packets and text, in order, and waits for as long as its test. */
export class GearmanPeer extends GearmanConnection {
  static async connect(port: number): Promise<GearmanPeer> {
    return new GearmanPeer(await connected({ port }))
  }

  /** A peer that leaves when the test ends. */
  static async ofTest(port: number): Promise<GearmanPeer> {
    const peer = await GearmanPeer.connect(port)
    onTestFinished(() => peer.leave())
    return peer
  }

  /** Never settles at the end of the connection: a test may leave a loop behind. */
  override next(): Promise<Packet | TextLine> {
    return super.next().catch(() => new Promise<never>(() => undefined))
  }

  /** As a server would say it. */
  sendAsServer(name: PacketName, ...args: readonly Argument[]): this {
    return this.sendBytes(encode('RES', name, args))
  }

  sendBytes(bytes: Uint8Array | string): this {
    this.write(bytes)
    return this
  }

  /** The next packet as its name and arguments, which are text; a line of text as `TEXT`. */
  async receive(): Promise<readonly string[]> {
    const message = await this.next()
    if (message.name === 'TEXT') return ['TEXT', message.line]
    return [message.name, ...message.args.map((arg) => arg.toString())]
  }

  /** The last argument of the next packet, as bytes. */
  async receiveBytes(): Promise<Buffer | undefined> {
    return ((await this.next()) as Packet).args.at(-1)
  }

  /** The next packets. */
  async receiveMany(count: number): Promise<(readonly string[])[]> {
    const messages: (readonly string[])[] = []
    while (messages.length < count) messages.push(await this.receive())
    return messages
  }

  /** Sends a packet and receives the answer. */
  ask(name: PacketName, ...args: readonly Argument[]): Promise<readonly string[]> {
    return this.send(name, ...args).receive()
  }

  /** Resolves when all that was said before is handled; nothing else may come in between. */
  async sync(): Promise<void> {
    const heard = await this.ask('ECHO_REQ', 'sync')
    if (heard[0] !== 'ECHO_RES') throw new Error(`heard ${heard.join(' ')} and no echo`)
  }

  /** Submits a job and returns its handle. */
  async submit(name: PacketName, ...args: readonly Argument[]): Promise<string> {
    const [reply, handle = ''] = await this.ask(name, ...args)
    if (reply !== 'JOB_CREATED') throw new Error(`${name} was answered with ${reply ?? 'nothing'}`)
    return handle
  }

  list(command: string): Promise<string[]> {
    return this.lines(command)
  }

  command(command: string): Promise<string> {
    return this.line(command)
  }

  /** Waits for a job. */
  async nextJob(): Promise<{ readonly handle: string; readonly input: string }> {
    this.send('GRAB_JOB')
    for (;;) {
      const [name, handle = '', , input = ''] = await this.receive()
      if (name === 'JOB_ASSIGN') return { handle, input }
      this.send(name === 'NO_JOB' ? 'PRE_SLEEP' : 'GRAB_JOB')
    }
  }

  /** Waits for a job, and says that it is done. Returns its input. */
  async doNextJob(): Promise<string> {
    const { handle, input } = await this.nextJob()
    await this.send('WORK_COMPLETE', handle, '').sync()
    return input
  }

  /** Resolves when the other side has ended the connection. */
  ended(): Promise<void> {
    return this.over
  }

  async leave(): Promise<void> {
    this.close()
    await this.over
  }
}
