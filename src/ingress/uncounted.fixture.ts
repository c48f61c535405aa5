// For tests that count neither CPU nor requests.
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'
import type { InstanceWork } from './instance-pool.ts'
import type { RequestEnded } from './routed-counts.ts'

export const NO_WORK: InstanceWork = { piece() {}, count() {} }
export const NOBODY: CausedByCells['nobody'] = { mark() {}, disturb() {} }
export const UNCOUNTED: RequestEnded = () => undefined
