/** The parts of the npm package faktory-client that the tests use: it has no types of its own. */
declare module 'faktory-client' {
  export default class Client {
    constructor(options: { readonly url: string; readonly wid?: string })
    connect(): Promise<this>
    push(job: object): Promise<string>
    fetch(...queues: readonly string[]): Promise<Record<string, unknown> | null>
    ack(jid: string): Promise<string>
    fail(jid: string, error: Error): Promise<string>
    beat(): Promise<string>
    info(): Promise<{ readonly faktory: Record<string, unknown> }>
    flush(): Promise<string>
    close(): void
  }
}
