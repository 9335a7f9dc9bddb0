import { Type } from '@sinclair/typebox'
import { adminAct, type Endpoint, operation, read, strict } from './endpoint.ts'
import { exportEndpoints } from './export/export-lists.ts'
import { logIn, loggedIn, reloaded, session } from './schemas/session.ts'

const openRead = operation('GET', 'anyone')

/** Operations that the web port answers itself. */
export const webEndpoints = {
  getSession: openRead({
    path: '/session',
    tag: 'Session',
    answer: session,
    summary: 'What the caller may do',
  }),
  logIn: operation(
    'POST',
    'anyone',
  )({
    path: '/session',
    tag: 'Session',
    body: logIn,
    answer: loggedIn,
    status: 201,
    summary: 'Logs in: sets a cookie and returns a token',
  }),
  logOut: operation(
    'DELETE',
    'anyone',
  )({
    path: '/session',
    tag: 'Session',
    answer: strict({}),
    summary: 'Removes the cookie',
  }),
  watchEvents: read({
    path: '/events',
    tag: 'Store',
    answer: Type.String(),
    type: 'text/event-stream',
    summary: 'Server-sent events: once a second an event overview with the data of /overview',
  }),
  ...exportEndpoints,
  reload: adminAct({
    path: '/reload',
    tag: 'Workers and nodes',
    answer: reloaded,
    summary: 'Reads the settings of this gateway again; an invalid one changes nothing',
  }),
  getOpenApi: openRead({
    path: '/openapi.json',
    tag: 'Session',
    answer: Type.Object({}),
    summary: 'This document',
  }),
} as const satisfies Readonly<Record<string, Endpoint>>
