// Power at the wall, from a metering plug or the server's own controller. It is the most complete reading, since
// it includes memory, disks and the power supply.
import { messageOf } from '#base/errors.ts'
import type { Secret } from '#base/log.ts'
import { createJsonReader, valueAt } from '#metering/json-reader.ts'
import { unavailable, type MeterSource } from './source.ts'

export type PlugKind = 'shelly' | 'tasmota' | 'redfish'

type Dialect = {
  readonly method: MeterSource['method']
  /** Where the watts are in the answer. */
  readonly path: readonly (string | number)[]
  readonly ceilingWatts: number
}

const DIALECTS: Record<PlugKind, Dialect> = {
  // Gen 2 and later: GET /rpc/Switch.GetStatus?id=0. Relays without a meter have no `apower`.
  shelly: { method: 'plug', path: ['apower'], ceilingWatts: 3680 },
  // GET /cm?cmnd=Status%208
  tasmota: { method: 'plug', path: ['StatusSNS', 'ENERGY', 'Power'], ceilingWatts: 3680 },
  // DMTF Redfish: GET /redfish/v1/Chassis/<id>/Power; some controllers give the mean of a minute.
  redfish: {
    method: 'redfish',
    path: ['PowerControl', 0, 'PowerConsumedWatts'],
    ceilingWatts: 20_000,
  },
}

export type PlugOptions = {
  readonly kind: PlugKind
  /** The whole address that is asked, path and query included. */
  readonly url: URL
  /** The device's declared error, in percent: from its data sheet. */
  readonly bandPct: number
  /** The most that can be true; default 16 A at 230 V for a plug, 20 kW for a server. */
  readonly ceilingWatts?: number
  /** Value of the Authorization header. */
  readonly authorization?: Secret
  readonly timeoutMs?: number
  readonly ca?: string
}

/** A source that asks one HTTP device for its power. */
export function createPlug(options: PlugOptions): MeterSource {
  const { kind, url, bandPct, authorization } = options
  const dialect = DIALECTS[kind]
  const reader = createJsonReader(options)
  const headers = authorization === undefined ? {} : { authorization: authorization.reveal() }
  const ceiling = BigInt(Math.round((options.ceilingWatts ?? dialect.ceilingWatts) * 1000))
  return {
    name: kind,
    method: dialect.method,
    bandPct,
    ceilingMilliwatts: () => ceiling,
    read: async (signal) => {
      try {
        const watts = valueAt(await reader.get(url, headers, signal), dialect.path)
        if (typeof watts !== 'number' || !Number.isFinite(watts))
          return unavailable(`no number at ${dialect.path.join('.')} in the answer`)
        return { kind: 'power', milliwatts: BigInt(Math.round(watts * 1000)) }
      } catch (error) {
        return unavailable(messageOf(error))
      }
    },
    close: reader.close,
  }
}
