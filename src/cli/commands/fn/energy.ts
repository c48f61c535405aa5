// ergon fn energy: joules, carbon and cost of a function over a period.
import type { CommandCall } from '#cli/call.ts'
import { functionPath } from '#cli/functions.ts'
import { printHourlyEnergy } from '#cli/hourly-energy.ts'

export const run = ({ options, words: [name = ''] }: CommandCall): Promise<void> =>
  printHourlyEnergy(options, functionPath(name))
