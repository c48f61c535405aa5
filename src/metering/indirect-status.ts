// The indirect CPU that `ergon meter` shows: the current bill of each operation for other cells.
import { printDecimal } from '#base/units.ts'
import type { ControlAnswer } from '#contract/control.ts'
import type { IndirectLearner } from './indirect.ts'
import type { Rate } from './kalman.ts'

export type IndirectStatus = ControlAnswer<'meter.status'>['indirect']

export function indirectStatus({ rates, creditNs }: IndirectLearner): IndirectStatus {
  const { levelMilli, activeSecond, operations } = rates()
  return {
    level_milli: String(levelMilli),
    active_second_ms: printMs(activeSecond.value),
    unbilled_ms: printMs(Math.max(0, creditNs)),
    operations: Object.entries(operations).map(([operation, rate]) => ({
      operation,
      ...printRate(rate),
    })),
  }
}

const printRate = ({ value, deviation }: Rate) => ({
  cpu_ms: printMs(value),
  deviation_ms: printMs(deviation),
})
const printMs = (ns: number): string => printDecimal(BigInt(Math.round(ns)), 6)
