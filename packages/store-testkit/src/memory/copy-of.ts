/** A deep copy of maps, sets, lists and plain objects. Bytes and instances of classes are shared: nobody changes them. */
export function copyOf<Value>(value: Value): Value {
  return copied(value) as Value
}

function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copied)
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, copied(one)]))
  if (value instanceof Set) return new Set(value)
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copied(one)]))
}
