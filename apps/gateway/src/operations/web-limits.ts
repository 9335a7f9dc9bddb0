import type { Breach } from '../doors/http/broken-requests.ts'
import type { Surplus } from '../doors/net/open-port.ts'
import type { HandshakeFault } from '../doors/net/tls.ts'

/** Limits of the web port, by their reason in the metrics. */
export type WebLimit =
  | Surplus
  | Breach
  | HandshakeFault
  | 'slow'
  | 'body_too_large'
  | 'password_tries'
  | 'too_many_calls'
  | 'too_much_work'
  | 'too_many_viewers'
