import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { BatchItem, Token } from 'node-llama-cpp'
import { fairBatch, PREFILL_TOKENS, priorityOf } from './fair-batch.ts'

/** `left` is what is left of its prompt, of which it is the next piece. */
const itemOf = (tokens: number, left = tokens): BatchItem => ({
  tokens: Array.from({ length: tokens }, () => 7 as Token),
  logits: [],
  evaluationPriority: priorityOf(left),
})

it('fairBatch() lets everybody who decodes go first', () => {
  const [prompt, first, second] = [itemOf(40), itemOf(1), itemOf(1)]
  const picked = fairBatch([prompt, first, second], 512)
  assert.deepEqual(
    picked.map(({ item, processAmount }) => [item, processAmount]),
    [
      [first, 1],
      [second, 1],
      [prompt, 40],
    ],
  )
})

it('fairBatch() lets a short prompt go beside long ones, and the oldest one go on', () => {
  const [oldest, older, short] = [itemOf(64, 1900), itemOf(64, 1900), itemOf(20, 20)]
  const picked = fairBatch([oldest, older, short], 512)
  const amountOf = (one: BatchItem) => picked.find(({ item }) => item === one)?.processAmount
  assert.deepEqual([oldest, older, short].map(amountOf), [PREFILL_TOKENS - 20, undefined, 20])
  const shorter = Array.from({ length: 20 }, () => itemOf(30, 30))
  const beside = fairBatch([oldest, ...shorter], 512).find(({ item }) => item === oldest)
  assert.ok((beside?.processAmount ?? 0) >= PREFILL_TOKENS / 2)
})

it('fairBatch() bounds the prompt tokens of a step, the oldest prompt first of equals', () => {
  const [older, newer] = [itemOf(PREFILL_TOKENS - 10), itemOf(PREFILL_TOKENS)]
  const picked = fairBatch([older, newer], 512)
  assert.deepEqual(
    picked.map(({ processAmount }) => processAmount),
    [PREFILL_TOKENS - 10, 10],
  )
})

it('fairBatch() never picks more than fits', () => {
  const picked = fairBatch([itemOf(30), ...Array.from({ length: 8 }, () => itemOf(1))], 6)
  assert.equal(
    picked.reduce((sum, { processAmount }) => sum + processAmount, 0),
    6,
  )
})
