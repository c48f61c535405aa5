// The budget for evaluating the policies of one request. A policy is written by a tenant, keys and headers by any
// caller: 18 KiB of patterns and 1000 keys once blocked the process for minutes.
import { storageFault } from '#contract/storage/storage-errors.ts'

/**
 * 15 ms of CPU on a busy machine. All resource patterns that fit into 20 KiB (975), without `?`, take that long for
 * the longest key.
 */
export const JUDGING_STEPS_MAX = 2 * 1024 * 1024
/** Added for each action and key: a batch judges one or two for each of its keys. */
export const ACTION_STEPS = 64 * 1024

type JudgedPart = { readonly asked: readonly (string | undefined)[]; readonly holds: boolean }

export class Judging {
  #left = JUDGING_STEPS_MAX
  #answers: Map<object, JudgedPart> | undefined

  /** Spends steps. Throws AccessDenied when the budget is used up. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0)
      throw storageFault('AccessDenied', 'The bucket policy takes too long to judge this request')
  }

  /** Adds the budget of another action or key of the same request. */
  addAction(): void {
    this.#left += ACTION_STEPS
  }

  /** Caches the result of a part of a policy while its values stay the same. */
  once(part: object, asked: JudgedPart['asked'], judge: () => boolean): boolean {
    this.#answers ??= new Map()
    const known = this.#answers.get(part)
    if (known !== undefined && isSame(known.asked, asked)) return known.holds
    const holds = judge()
    this.#answers.set(part, { asked, holds })
    return holds
  }
}

const isSame = (some: JudgedPart['asked'], others: JudgedPart['asked']): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index])
