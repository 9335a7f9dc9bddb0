/** What the web port answers. */
export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

export function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(body)}\n` }
}
