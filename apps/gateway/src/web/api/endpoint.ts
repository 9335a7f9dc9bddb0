import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Role } from './roles.ts'

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
  /** None. */
  readonly params?: Params
  /** None. */
  readonly query?: Query
}

/** Operations of a method for a role. */
export function operation(method: Endpoint['method'], role: Endpoint['role']) {
  return <
    Answer extends TSchema,
    Params extends TSchema = Nothing,
    Query extends TSchema = Nothing,
    Body extends TSchema = Nothing,
  >(
    definition: Definition<Params, Query, Body, Answer>,
  ): Endpoint<Params, Query, Body, Answer> => {
    const none = { params: nothing, query: nothing } as unknown as Pick<
      Endpoint<Params, Query>,
      'params' | 'query'
    >
    return { ...none, ...definition, method, role }
  }
}

/** A GET that readers may make. */
export const read = operation('GET', 'reader')
/** A POST that changes something, for operators. */
export const act = operation('POST', 'operator')

/** The same, for admins. */
export const adminAct = operation('POST', 'admin')
/** A GET for admins. */
export const adminRead = operation('GET', 'admin')

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

/** A text that answers have. */
export function word(description: string) {
  return Type.String({ description })
}

/** A text that calls have, of at most so many characters. */
export function text(description: string, maxLength: number, minLength = 1) {
  return Type.String({ ...(minLength > 0 && { minLength }), maxLength, description })
}

export function words(description?: string) {
  return Type.Array(Type.String(), description === undefined ? {} : { description })
}

export function counted(description: string) {
  return Type.Integer({ minimum: 0, description })
}

/** A value or null: there is always the key. */
export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

/** A schema of some words, of which a value is one. */
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
