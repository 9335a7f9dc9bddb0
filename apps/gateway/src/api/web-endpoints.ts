import { Type } from '@sinclair/typebox'
import { type Endpoint, nothing, strict } from './endpoint.ts'
import { exportEndpoints } from './export/export-lists.ts'
import { logIn, loggedIn, reloaded, session } from './schemas/session.ts'

/** Operations that the web port answers itself. */
export const webEndpoints = {
  getSession: {
    ...{ method: 'GET', path: '/session', tag: 'Session', role: 'anyone' },
    summary: 'What the caller may do',
    ...{ params: nothing, query: nothing, answer: session },
  },
  logIn: {
    ...{ method: 'POST', path: '/session', tag: 'Session', role: 'anyone' },
    summary: 'Logs in: sets a cookie and returns a token',
    ...{ params: nothing, query: nothing, body: logIn, answer: loggedIn, status: 201 },
  },
  logOut: {
    ...{ method: 'DELETE', path: '/session', tag: 'Session', role: 'anyone' },
    summary: 'Removes the cookie',
    ...{ params: nothing, query: nothing, answer: strict({}) },
  },
  watchEvents: {
    ...{ method: 'GET', path: '/events', tag: 'Store', role: 'reader' },
    summary: 'Server-sent events: once a second an event overview with the data of /overview',
    ...{ params: nothing, query: nothing, answer: Type.String(), type: 'text/event-stream' },
  },
  ...exportEndpoints,
  reload: {
    ...{ method: 'POST', path: '/reload', tag: 'Workers and nodes', role: 'operator' },
    summary: 'Reads the settings of this gateway again; an invalid one changes nothing',
    ...{ params: nothing, query: nothing, answer: reloaded },
  },
  getOpenApi: {
    ...{ method: 'GET', path: '/openapi.json', tag: 'Session', role: 'anyone' },
    summary: 'This document',
    ...{ params: nothing, query: nothing, answer: Type.Object({}) },
  },
} as const satisfies Readonly<Record<string, Endpoint>>
