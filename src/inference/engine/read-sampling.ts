// The parameters that chat and text completions share.
import { randomInt } from 'node:crypto'
import { CHOICES_MAX } from '#contract/inference/inference-limits.ts'
import type { Sampling } from './generation.ts'
import { fieldsOf, listOf, fieldOf, numberOf, refuse, textOf, type BodyFields } from './fields.ts'
import type { ModelConfig } from './model-config.ts'

const STOPS_MAX = 4
const STOP_CHARACTERS_MAX = 256
const BIASES_MAX = 300
const BIAS_MAX = 100
const PENALTY_MAX = 2
const SEEDS = 2 ** 32

export type Generating = {
  readonly sampling: Sampling
  readonly stops: readonly string[]
  readonly choices: number
  readonly maxTokens: number | undefined
}

/** OpenAI's own defaults are 1 and 1; a catalogue entry may set others and says so. */
export function readGenerating(
  fields: BodyFields,
  config: ModelConfig,
  alternatives: number | undefined,
): Generating {
  const penalty = { least: -PENALTY_MAX, most: PENALTY_MAX }
  const seed = numberOf(fields, 'seed', {
    least: Number.MIN_SAFE_INTEGER,
    most: Number.MAX_SAFE_INTEGER,
    integer: true,
  })
  return {
    sampling: {
      temperature:
        numberOf(fields, 'temperature', { least: 0, most: 2 }) ?? config.defaults?.temperature ?? 1,
      topP: numberOf(fields, 'top_p', { least: 0, most: 1 }) ?? config.defaults?.topP ?? 1,
      seed: seed === undefined ? randomInt(SEEDS) : seed >>> 0,
      presencePenalty: numberOf(fields, 'presence_penalty', penalty) ?? 0,
      frequencyPenalty: numberOf(fields, 'frequency_penalty', penalty) ?? 0,
      bias: readBias(fieldOf(fields, 'logit_bias')),
      ...(alternatives === undefined ? {} : { alternatives }),
    },
    stops: readStops(fieldOf(fields, 'stop')),
    choices: numberOf(fields, 'n', { least: 1, most: CHOICES_MAX, integer: true }) ?? 1,
    maxTokens: readMaxTokens(fields),
  }
}

/** Choices of one request differ by their seed, or they would all say the same. */
export const withSeed = (sampling: Sampling, choice: number): Sampling => ({
  ...sampling,
  seed: (sampling.seed + choice) >>> 0,
})

function readMaxTokens(fields: BodyFields): number | undefined {
  const bounds = { least: 1, most: Number.MAX_SAFE_INTEGER, integer: true }
  return numberOf(fields, 'max_completion_tokens', bounds) ?? numberOf(fields, 'max_tokens', bounds)
}

function readStops(value: unknown): string[] {
  if (value === undefined) return []
  const stops = typeof value === 'string' ? [value] : listOf(value, 'stop', STOPS_MAX)
  return stops.map((stop) => {
    const text = textOf(stop, 'stop', STOP_CHARACTERS_MAX)
    if (text === '') throw refuse('stop', 'an empty string')
    return text
  })
}

function readBias(value: unknown): Map<number, number> {
  if (value === undefined) return new Map()
  const entries = Object.entries(fieldsOf(value, 'logit_bias'))
  if (entries.length > BIASES_MAX) throw refuse('logit_bias', `more than ${BIASES_MAX} tokens`)
  return new Map(
    entries.map(([token, bias]) => {
      if (!/^\d{1,9}$/.test(token)) throw refuse('logit_bias', 'a key that is no token id')
      if (typeof bias !== 'number' || !(Math.abs(bias) <= BIAS_MAX))
        throw refuse('logit_bias', `a bias must be a number from -${BIAS_MAX} to ${BIAS_MAX}`)
      return [Number(token), bias]
    }),
  )
}
