import type { Socket } from 'node:net'
import { systemCode } from '../lifecycle/start-error.ts'

/** What a connection sent that is no request. */
export type Breach = 'malformed' | 'head_too_large' | 'too_slow'

interface Answer {
  readonly breach: Breach
  readonly status: string
}

/** By the code of Node's error; any other that its parser names is malformed. */
const answers: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: { breach: 'head_too_large', status: '431 Request Header Fields Too Large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { breach: 'head_too_large', status: '413 Content Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: { breach: 'too_slow', status: '408 Request Timeout' },
}
const malformed: Answer = { breach: 'malformed', status: '400 Bad Request' }

/**
 * Ends a connection on which no request can be read any more, with the answer that HTTP has for it,
 * unless that of another is owed. Undefined where the connection just broke.
 */
export function endBroken(error: Error, socket: Socket, isOwed: boolean): Breach | undefined {
  const code = systemCode(error)
  const answer = answers[code] ?? (code.startsWith('HPE_') ? malformed : undefined)
  const end = (): void => void socket.destroy()
  if (!answer || !socket.writable || isOwed) end()
  else socket.end(`HTTP/1.1 ${answer.status}\r\nConnection: close\r\n\r\n`, end)
  return answer?.breach
}
