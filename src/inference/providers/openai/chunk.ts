// One chunk of an OpenAI-shaped stream, or a whole answer, checked. Upstreams lie: what is not of the shape is a fault
// of the upstream (502), never passed on for the caller's SDK to trip over.
import { fault } from '#contract/errors.ts'
import { CHOICES_MAX, INPUTS_MAX } from '#contract/inference/inference-limits.ts'
import type {
  Delta,
  FinishReason,
  TokenUsage,
  ToolCallDelta,
} from '#inference/providers/provider.ts'

export type Chunk = {
  readonly choices: readonly ChunkChoice[]
  readonly usage: TokenUsage | undefined
  /** The figures of our own cells; what it is in a stranger's chunk, nobody asks. */
  readonly ergon: unknown
  readonly error: unknown
}
export type ChunkChoice = {
  readonly index: number
  readonly delta: Delta
  readonly logprobs: object | null
  readonly finish: FinishReason | undefined
}

const TOOL_CALLS_MAX = 128
const REASONS: readonly string[] = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
]

/**
 * Reads the text of a `data:` field, or a whole answer: the `message` of its choices becomes their
 * delta. Throws `upstream_failed` naming what was wrong.
 */
export function parseChunk(text: string, shape: 'chat' | 'text'): Chunk {
  const chunk = parseObject(text)
  const choices = chunk['choices'] ?? []
  if (!Array.isArray(choices) || choices.length > CHOICES_MAX * INPUTS_MAX) throw bad('choices')
  const usage = chunk['usage'] ?? undefined
  return {
    choices: choices.map((choice: unknown) => choiceOf(record(choice, 'choice'), shape)),
    usage: usage === undefined ? undefined : usageOf(usage),
    ergon: chunk['ergon'],
    error: chunk['error'] ?? undefined,
  }
}

/** A JSON object. Throws `upstream_failed` when the text is something else. */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw fault('upstream_failed', 'Could not read the upstream: it did not send JSON', { cause })
  }
  return record(value, 'JSON')
}

function choiceOf(choice: Record<string, unknown>, shape: 'chat' | 'text'): ChunkChoice {
  // Some servers leave the index out when there is one choice.
  const index = choice['index'] ?? 0
  if (!isCount(index) || index >= CHOICES_MAX * INPUTS_MAX) throw bad('choices[].index')
  const logprobs = choice['logprobs'] ?? null
  if (typeof logprobs !== 'object') throw bad('choices[].logprobs')
  const finish = choice['finish_reason'] ?? undefined
  return {
    index,
    delta: shape === 'text' ? textOf(choice) : deltaOf(choice),
    logprobs,
    finish: finish === undefined ? undefined : reasonOf(finish),
  }
}

const textOf = (choice: Record<string, unknown>): Delta => ({ text: text(choice, 'text') ?? '' })

function deltaOf(choice: Record<string, unknown>): Delta {
  const given = record(choice['delta'] ?? choice['message'] ?? {}, 'choices[].delta')
  // Filled field by field: this runs for every token, and spreads cost more than the parsing.
  const delta: { -readonly [Key in keyof Delta]: Delta[Key] } = {}
  const content = text(given, 'content')
  if (content !== undefined) delta.content = content
  const refusal = text(given, 'refusal')
  if (refusal !== undefined) delta.refusal = refusal
  // Two names are in use for the thinking of a model; we give out the older one.
  const reasoning = text(given, 'reasoning_content') ?? text(given, 'reasoning')
  if (reasoning !== undefined) delta.reasoning_content = reasoning
  const calls = given['tool_calls'] ?? undefined
  if (calls === undefined) return delta
  if (!Array.isArray(calls) || calls.length > TOOL_CALLS_MAX) throw bad('tool_calls')
  if (calls.length > 0) delta.tool_calls = calls.map(toolCallOf)
  return delta
}

function toolCallOf(value: unknown, position: number): ToolCallDelta {
  const call = record(value, 'tool_calls[]')
  const index = call['index'] ?? position
  if (!isCount(index) || index >= TOOL_CALLS_MAX) throw bad('tool_calls[].index')
  const id = text(call, 'id')
  const made = record(call['function'] ?? {}, 'tool_calls[].function')
  const name = text(made, 'name')
  const args = text(made, 'arguments')
  return {
    index,
    ...(id === undefined ? {} : { id, type: 'function' as const }),
    function: {
      ...(name === undefined ? {} : { name }),
      ...(args === undefined ? {} : { arguments: args }),
    },
  }
}

const reasonOf = (value: unknown): FinishReason => {
  // Engines have reasons of their own (abort, eos_token, …); SDKs know only OpenAI's.
  if (typeof value !== 'string') throw bad('finish_reason')
  return REASONS.includes(value) ? (value as FinishReason) : 'stop'
}

/** OpenAI's usage object. Counts that are not counts are a lie. */
export function usageOf(value: unknown): TokenUsage {
  const usage = record(value, 'usage')
  const promptTokens = usage['prompt_tokens'] ?? 0
  const completionTokens = usage['completion_tokens'] ?? 0
  if (!isCount(promptTokens) || !isCount(completionTokens)) throw bad('usage')
  return {
    promptTokens,
    completionTokens,
    ...detailsOf('promptDetails', usage['prompt_tokens_details']),
    ...detailsOf('completionDetails', usage['completion_tokens_details']),
  }
}

function detailsOf(key: string, value: unknown): Record<string, Record<string, number>> {
  if (typeof value !== 'object' || value === null) return {}
  const counts = Object.entries(value).filter((entry) => isCount(entry[1]))
  return counts.length === 0 ? {} : { [key]: Object.fromEntries(counts) as Record<string, number> }
}

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

const bad = (what: string) => fault('upstream_failed', `Could not read the upstream: bad ${what}`)

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(what)
  return value as Record<string, unknown>
}

/** A text field; null and absent are the same. */
function text(object: Record<string, unknown>, key: string): string | undefined {
  const value = object[key] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw bad(key)
  return value
}
