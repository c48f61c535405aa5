// The least hold of a wallet or a budget.
import { nj } from '#base/units.ts'

/**
 * The most that reading and refusing a request may cost: 20 ms of CPU at 3.5 J/s. With less than that nothing is
 * admitted, and a balance below its price is depleted: the remainder is too little to be billed, so it must not buy
 * an answer either.
 */
export const LEAST_HOLD_NJ = nj(70_000_000n)
