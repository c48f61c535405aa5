// Chooses the sequences of the next step. Sequences that decode come first (one token each). Half of the remaining room
// goes to the prompts with the least left, so that a short prompt does not wait behind long ones. The other half goes
// in the order of arrival, so that a long prompt ends however many short ones come.
import type { BatchItem, EvaluationPriority, PrioritizedBatchItem } from 'node-llama-cpp'

/**
 * Prompt tokens per step: 64 cost 0.4 s on one thread, and everybody in the step waits for all of them,
 * also those who would abort. Larger steps gain nothing (8.18 ms per token at 64, 7.96 at 128).
 */
export const PREFILL_TOKENS = 64

/** The most that is left of a prompt, in tokens, by priority: an item in the queue is at most PREFILL_TOKENS of it. */
const LEFT: readonly (readonly [most: number, priority: EvaluationPriority])[] = [
  [PREFILL_TOKENS, 5],
  [256, 4],
  [1024, 3],
  [4096, 2],
]

/** The priority of a prompt, by its remaining tokens. */
export const priorityOf = (left: number): EvaluationPriority =>
  LEFT.find(([most]) => left <= most)?.[1] ?? 1

/** Picks at most `size` tokens of the queued items; every picked amount is at least one. */
export function fairBatch(items: readonly BatchItem[], size: number): PrioritizedBatchItem[] {
  const decoding = items.filter((item) => item.tokens.length === 1)
  const prompts = items.filter((item) => item.tokens.length > 1)
  const picked = decoding.slice(0, size).map((item) => ({ item, processAmount: 1 }))
  const room = Math.min(size - picked.length, PREFILL_TOKENS)
  const shortest = prompts.toSorted(
    (one, other) => other.evaluationPriority - one.evaluationPriority,
  )
  const amounts = new Map<BatchItem, number>()
  const left = give(shortest, Math.ceil(room / 2), amounts) + Math.floor(room / 2)
  give(prompts, left, amounts)
  return [...picked, ...[...amounts].map(([item, processAmount]) => ({ item, processAmount }))]
}

/** Gives tokens to prompts in their order; returns what is left. */
function give(
  prompts: readonly BatchItem[],
  tokens: number,
  amounts: Map<BatchItem, number>,
): number {
  let left = tokens
  for (const item of prompts) {
    const before = amounts.get(item) ?? 0
    const more = Math.min(item.tokens.length - before, left)
    if (more <= 0) continue
    amounts.set(item, before + more)
    left -= more
  }
  return left
}
