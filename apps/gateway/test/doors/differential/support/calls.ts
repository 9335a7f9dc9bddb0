/** Counts the calls of an object's methods that have no answer yet. */
export class Calls {
  #underWay = 0

  get isAtRest(): boolean {
    return this.#underWay === 0
  }

  /** The object, its calls counted; those of the objects that it is made of as well. */
  counting<Whole extends object>(whole: Whole): Whole {
    return new Proxy(whole, {
      get: (target, name): unknown => {
        const part: unknown = Reflect.get(target, name, target)
        if (typeof part === 'function') {
          return (...args: unknown[]): unknown => this.#counted(Reflect.apply(part, target, args))
        }
        return typeof part === 'object' && part !== null ? this.counting(part) : part
      },
    })
  }

  #counted(result: unknown): unknown {
    if (!(result instanceof Promise)) return result
    this.#underWay += 1
    return result.finally(() => {
      this.#underWay -= 1
    })
  }
}
