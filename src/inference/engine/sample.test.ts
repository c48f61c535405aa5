import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Token } from 'node-llama-cpp'
import { sampleFrom, uniform } from './sample.ts'

const softmax = [0.5, 0.3, 0.15, 0.05].map((p, id) => [id as Token, p] as const)

function frequencies(temperature: number, topP: number): number[] {
  const random = uniform(11)
  const counts = [0, 0, 0, 0]
  for (let draw = 0; draw < 20_000; draw++) {
    const token = sampleFrom(softmax, { temperature, topP }, random)
    counts[token] = (counts[token] ?? 0) + 1
  }
  return counts.map((count) => count / 20_000)
}

describe('sampleFrom()', () => {
  it('draws with the probabilities of the softmax at temperature 1', () => {
    for (const [id, share] of frequencies(1, 1).entries())
      assert.ok(Math.abs(share - (softmax[id]?.[1] ?? 0)) < 0.02, `token ${id}: ${share}`)
  })

  it('sharpens below 1: p² at temperature 0.5', () => {
    const squares = softmax.map(([, p]) => p * p)
    const mass = squares.reduce((a, b) => a + b, 0)
    for (const [id, share] of frequencies(0.5, 1).entries())
      assert.ok(Math.abs(share - (squares[id] ?? 0) / mass) < 0.02, `token ${id}: ${share}`)
  })

  it('draws only from the nucleus', () => {
    assert.deepEqual(frequencies(1, 0.6).slice(2), [0, 0])
    assert.deepEqual(frequencies(1, 0), [1, 0, 0, 0])
  })
})

it('uniform() repeats for a seed and differs for another', () => {
  const three = (seed: number) => {
    const random = uniform(seed)
    return [random(), random(), random()]
  }
  assert.deepEqual(three(5), three(5))
  assert.notDeepEqual(three(5), three(6))
})
