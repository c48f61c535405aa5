// The work that one request's schemas may make. A schema of a few bytes can ask for any amount of it,
// and the model's process serves others meanwhile.
import { refuse } from '#inference/engine/fields.ts'

/** Nesting of schemas and of patterns, at most. */
export const DEPTH_MAX = 64
/** About a quarter of a second. */
export const STEPS_MAX = 400_000

export type Budget = {
  /** Takes steps; throws `invalid_request` for `param` when none are left. */
  spend(steps: number, param: string): void
}

export function createBudget(): Budget {
  let left = STEPS_MAX
  return {
    spend(steps, param) {
      left -= steps
      if (left < 0) throw refuse(param, 'its schemas are too large together for a grammar')
    },
  }
}
