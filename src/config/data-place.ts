// Where the data folder is, known before the settings are loaded: they need half of the product's modules.
import { parseArgs } from 'node:util'

export const DATA_PLACE = { name: 'ERGON_DATA', flag: 'data', default: '.ergon' } as const

/** The folder that flags and environment name. Other faults of the flags are for readSettings(). */
export function dataPlace(argv: readonly string[]): string {
  const { values } = parseArgs({
    args: [...argv],
    options: { [DATA_PLACE.flag]: { type: 'string' } },
    strict: false,
  })
  const flag = values[DATA_PLACE.flag]
  if (typeof flag === 'string') return flag
  return process.env[DATA_PLACE.name] || DATA_PLACE.default
}
