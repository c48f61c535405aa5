// Every function of the language by its name. A caller adds those that are not pure, such as file().
import { COLLECTION_FUNCTIONS } from './collection-functions.ts'
import { ENCODING_FUNCTIONS } from './encoding-functions.ts'
import type { HclFunction } from './function.ts'
import { NUMBER_FUNCTIONS } from './number-functions.ts'
import { TEXT_FUNCTIONS } from './text-functions.ts'

export const HCL_FUNCTIONS: ReadonlyMap<string, HclFunction> = new Map(
  [...TEXT_FUNCTIONS, ...COLLECTION_FUNCTIONS, ...NUMBER_FUNCTIONS, ...ENCODING_FUNCTIONS].map(
    (one) => [nameOfUsage(one.usage), one],
  ),
)

function nameOfUsage(usage: string): string {
  return usage.slice(0, usage.indexOf('('))
}
