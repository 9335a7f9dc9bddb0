import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Role } from './session-tokens.ts'

/** One operation of the API: the same schemas check requests and make the OpenAPI document. */
export interface Endpoint<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/api/v1`; `{name}` is a parameter. */
  readonly path: string
  /** The role that the client needs at least; `anyone`: no password. */
  readonly role: Role | 'anyone'
  readonly summary: string
  readonly tag: string
  readonly params: Params
  readonly query: Query
  /** Absent where there is none. */
  readonly body?: Body
  readonly answer: Answer
  /** 200. */
  readonly status?: number
  /** The media type of the answer. `application/json`. */
  readonly type?: string
}

export const nothing = strict({})
export type Nothing = typeof nothing

interface Definition<
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema,
  Answer extends TSchema,
> extends Omit<Endpoint<Params, Query, Body, Answer>, 'params' | 'query' | 'method' | 'role'> {
  readonly params?: Params
  readonly query?: Query
}

/** A GET that readers may make. */
export function read<
  Answer extends TSchema,
  Params extends TSchema = Nothing,
  Query extends TSchema = Nothing,
>(
  definition: Definition<Params, Query, Nothing, Answer>,
): Endpoint<Params, Query, Nothing, Answer> {
  return { ...definition, ...rest(definition), method: 'GET', role: 'reader' }
}

/** A POST that changes something, for operators. */
export function act<Answer extends TSchema, Body extends TSchema>(
  definition: Definition<Nothing, Nothing, Body, Answer>,
): Endpoint<Nothing, Nothing, Body, Answer> {
  return oneAct(definition)
}

/** The same with parameters in the path. */
export function oneAct<Answer extends TSchema, Body extends TSchema, Params extends TSchema>(
  definition: Definition<Params, Nothing, Body, Answer>,
): Endpoint<Params, Nothing, Body, Answer> {
  return { ...definition, ...rest(definition), method: 'POST', role: 'operator' }
}

function rest<Params extends TSchema, Query extends TSchema>({
  params,
  query,
}: {
  readonly params?: Params
  readonly query?: Query
}) {
  return {
    params: params ?? (nothing as unknown as Params),
    query: query ?? (nothing as unknown as Query),
  }
}

/** An object without other properties than these. */
export function strict<Properties extends TProperties>(
  properties: Properties,
  description?: string,
): TObject<Properties> {
  return Type.Object(properties, {
    additionalProperties: false,
    ...(description !== undefined && { description }),
  })
}

/** A value or null: there is always the key. */
export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

/** One of some words. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({
    type: 'string',
    enum: [...words],
    ...(description !== undefined && { description }),
  })
}

/** The request, for its handler. */
export interface Input<E extends Endpoint> {
  readonly params: Static<E['params']>
  readonly query: Static<E['query']>
  readonly body: Static<NonNullable<E['body']>>
}
