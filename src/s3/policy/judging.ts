// What judging one request by policies may cost, over everything that it asks. A policy is a tenant's
// text, and keys and headers are a stranger's: 18 KiB of patterns and 1000 keys once stopped the process
// for minutes, before anybody was found to pay for it.
import { storageFault } from '#contract/storage-errors.ts'

/**
 * 15 ms of CPU on a busy machine. All patterns of resources that 20 KiB have room for (975) take as much of
 * the longest key, where none has a `?`.
 */
export const STEPS_MAX = 2 * 1024 * 1024
/** More for each question: a batch asks one of each of its keys, and another of those it may delete. */
export const QUESTION_STEPS = 64 * 1024

type Answer = { readonly asked: readonly (string | undefined)[]; readonly holds: boolean }

export class Judging {
  #left = STEPS_MAX
  #answers: Map<object, Answer> | undefined

  /** Counts work. Throws AccessDenied when there is no more of it to spend. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0)
      throw storageFault('AccessDenied', 'The bucket policy takes too long to judge this request')
  }

  /** Another action or key is judged for the same request. */
  question(): void {
    this.#left += QUESTION_STEPS
  }

  /** What a part of a policy says of these values: found once, as long as they stay the same. */
  once(part: object, asked: Answer['asked'], judge: () => boolean): boolean {
    this.#answers ??= new Map()
    const known = this.#answers.get(part)
    if (known !== undefined && isSame(known.asked, asked)) return known.holds
    const holds = judge()
    this.#answers.set(part, { asked, holds })
    return holds
  }
}

const isSame = (some: Answer['asked'], others: Answer['asked']): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index])
