// WattTime v3: the marginal operating emission rate, what one more kWh would cause. It serves decisions
// (where and when to run) and never a bill: bills use averages, and the type of this answer is none.
import type { Clock } from '#base/clock.ts'
import type { Secret } from '#base/log.ts'
import { createJsonReader, valueAt } from '#metering/json-reader.ts'
import { ADAPTER_TIMEOUT_MS, timeAt, unfit } from './answer.ts'

const NAME = 'WattTime'
const BASE = 'https://api.watttime.org'
const UNITS = 'lbs_co2_per_mwh'
// 1 lb/MWh = 0.45359237 g/kWh exactly, by the definition of the pound.
const MG_PER_KWH_OF_LB_PER_MWH = 453.592_37
// Tokens live 30 minutes.
const TOKEN_MS = 25 * 60_000
// 72 hours by 5 minutes, the longest horizon.
const POINTS_MAX = 864

export type MarginalForecast = {
  readonly region: string
  readonly basis: 'marginal'
  readonly points: readonly { readonly atMs: number; readonly marginalMgPerKwh: bigint }[]
}

export interface MarginalSource {
  readonly name: string
  /** The forecast from now on, oldest first. Rejects with upstream_failed or upstream_timeout. */
  forecast(region: string, signal?: AbortSignal): Promise<MarginalForecast>
  close(): Promise<void>
}

/** `login` is `user:password`, as the service's registration gave it. */
export function createWattTime(options: {
  readonly login: Secret
  readonly clock: Clock
  readonly base?: string
}): MarginalSource {
  const reader = createJsonReader({ timeoutMs: ADAPTER_TIMEOUT_MS })
  const base = options.base ?? BASE
  let login: { token: string; untilMs: number } | undefined

  const token = async (signal?: AbortSignal): Promise<string> => {
    if (login !== undefined && options.clock.monotonicMs() < login.untilMs) return login.token
    const secret = Buffer.from(options.login.reveal()).toString('base64')
    const headers = { authorization: `Basic ${secret}` }
    const fresh = valueAt(await reader.get(new URL('/login', base), headers, signal), ['token'])
    if (typeof fresh !== 'string' || fresh === '') throw unfit(NAME, 'no token at login')
    login = { token: fresh, untilMs: options.clock.monotonicMs() + TOKEN_MS }
    return fresh
  }
  return {
    name: NAME,
    async forecast(region, signal) {
      const url = new URL('/v3/forecast', base)
      url.searchParams.set('region', region)
      url.searchParams.set('signal_type', 'co2_moer')
      const headers = { authorization: `Bearer ${await token(signal)}` }
      // A refused token is not tried twice: the next call logs in.
      const answer = await reader.get(url, headers, signal).catch((error: unknown) => {
        login = undefined
        throw error
      })
      return { region, basis: 'marginal', points: pointsOf(answer) }
    },
    close: reader.close,
  }
}

function pointsOf(answer: unknown): MarginalForecast['points'] {
  const units = valueAt(answer, ['meta', 'units'])
  if (units !== UNITS) throw unfit(NAME, `units are ${String(units)}, not ${UNITS}`)
  const data = valueAt(answer, ['data'])
  if (!Array.isArray(data) || data.length === 0 || data.length > POINTS_MAX)
    throw unfit(NAME, 'no list of points')
  return data.map((point: unknown) => {
    const pounds = valueAt(point, ['value'])
    if (typeof pounds !== 'number' || !(pounds >= 0 && pounds < 10_000))
      throw unfit(NAME, `value is ${String(pounds)}`)
    return {
      atMs: timeAt(NAME, point, ['point_time']),
      marginalMgPerKwh: BigInt(Math.round(pounds * MG_PER_KWH_OF_LB_PER_MWH)),
    }
  })
}
