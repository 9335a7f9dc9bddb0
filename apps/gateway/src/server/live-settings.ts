import { LaneNames, type LiveSettings, type RouteTerms } from '@crossgear/core-scheduler'
import { turnKeyOf } from '../bridge/turn-key.ts'
import { limitsOf } from '../config/function-limits.ts'
import type { Config } from '../config/load-config.ts'
import { routedHomes, routeTerms } from '../config/routes.ts'
import { deathCallOf } from '../doors/faktory/death-calls.ts'
import type { PayloadRuleOf } from '../doors/faktory/translate.ts'

type TurnOf = (fn: string, per: string) => RouteTerms['turnOf'] & {}

/** Reads the values by which jobs of functions take turns. `absent`: called for a job without one. */
export function turnsBy(payloadRuleOf: PayloadRuleOf, absent: (fn: string) => void): TurnOf {
  return (fn, per) => {
    const key = turnKeyOf(per)
    return (job) => {
      const value = key(job, payloadRuleOf(fn))
      if (value === undefined) absent(fn)
      return value ?? ''
    }
  }
}

/** The scheduler's settings that may change while jobs flow. */
export function liveSettings(config: Config, turnOf: TurnOf): LiveSettings {
  const homes = routedHomes(config.routes)
  const names = new LaneNames(homes)
  const routes = routeTerms(config.routes, (fn, { onDeath, limit }) => ({
    ...(onDeath && { onDeath: deathCallOf(onDeath, names) }),
    ...(limit?.per !== undefined && { turnOf: turnOf(fn, limit.per) }),
  }))
  const pushed = [...routes.values()].flatMap(({ onDeath }) => onDeath ?? [])
  return {
    homes,
    // A job that tells of a death is for the consumers of its queue, as one that a Faktory producer pushes.
    routed: new Set([...homes.keys(), ...pushed.map(({ lane }) => names.parse(lane).fn)]),
    routes,
    throttles: limitsOf(config),
  }
}
