import type { StoreFolder, StoreKind } from './store-folder.ts'

/** A store server that this gateway started. */
export interface ServerProcess {
  readonly pid: number
  /** Settles with the reason when the process has ended. */
  readonly exited: Promise<string>
  hasExited(): boolean
  /** Ends it at once. */
  kill(): void
  /** The last line that it wrote. */
  lastWords(): Promise<string>
}

/** A program that can be the store of a folder. */
export interface StoreProgram {
  readonly kind: StoreKind
  /** In messages. */
  readonly name: string
  /** Completes the message of a failed start. */
  readonly advice: (folder: StoreFolder) => string
  /** `port`: also to be listened on; 0 for none. */
  readonly spawn: (folder: StoreFolder, port: number) => Promise<ServerProcess>
}

/** Why a process has ended. */
export function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`
}
