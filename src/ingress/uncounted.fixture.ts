// For tests that count no CPU.
import type { CausedByCells } from '#node/meter/caused-by-cells.ts'
import type { InstanceWork } from './instance-pool.ts'

export const NO_WORK: InstanceWork = { piece() {}, count() {} }
export const NOBODY: CausedByCells['nobody'] = { mark() {} }
