// Replies of the inference operations, as OpenAPI prints them and tests check them. Leaving out
// one field at a time showed what the SDKs need: id, object, created, model, choices[].index,
// finish_reason and the role of the first delta are all needed by one client or another.
import { z } from 'zod'

const count = z.int().min(0)

/** OpenAI's usage, with energy and carbon of the request. The two figures equal the headers to the last digit. */
export const usage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.record(z.string(), count).optional(),
  completion_tokens_details: z.record(z.string(), count).optional(),
  energy_j: z.number().min(0),
  carbon_mg: z.number().min(0),
})

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])
const logprobs = z.looseObject({}).nullable()

export const chatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: count,
  model: z.string(),
  choices: z.array(
    z.object({
      index: count,
      message: z.looseObject({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.string().nullable(),
        tool_calls: z.array(toolCall).optional(),
      }),
      logprobs,
      finish_reason: finishReason,
    }),
  ),
  usage,
})

const whole = z.string().regex(/^\d+$/)

/** The most that a request would be billed. Its own charge may be less and is never more. */
export const ceilingReply = z.object({
  object: z.literal('ceiling'),
  /** The model that would serve. Another one that stands in for it adds its own ceiling. */
  model: z.string(),
  tier: z.enum(['L0', 'L1', 'L2', 'L3']),
  router_reason: z.string(),
  ceiling_j: z.number().min(0),
  ceiling_nj: whole,
  ceiling_pusd: whole,
  /** The prompt takes at least this; with less left the request is refused. */
  least_nj: whole,
  /**
   * Of an answer that can be streamed: the most that is billed beyond what was measured until its first piece. The head of
   * the stream says both together, or `ceiling_nj` where that is less.
   */
  stream_rest_nj: whole.optional(),
  prompt_tokens_max: count,
  completion_tokens_max: count,
})

/** Energy so far, on some chunks with `stream_options.include_energy`. The figures of the end are in `usage`. */
const runningEnergy = z
  .object({
    /** Measured so far. */
    energy_nj: whole,
    /** The most that the answer is billed, as its head says. */
    ceiling_nj: whole,
  })
  .optional()

export const chatCompletionChunk = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: count,
  model: z.string(),
  choices: z.array(
    z.object({
      index: count,
      delta: z.looseObject({
        role: z.literal('assistant').optional(),
        content: z.string().nullable().optional(),
        tool_calls: z.array(z.looseObject({ index: count })).optional(),
      }),
      logprobs,
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
  energy: runningEnergy,
})

/** Both the whole reply and, with `finish_reason` null until the end, each chunk of a stream. */
export const textCompletion = z.object({
  id: z.string(),
  object: z.literal('text_completion'),
  created: count,
  model: z.string(),
  choices: z.array(
    z.object({
      index: count,
      text: z.string(),
      logprobs,
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
  energy: runningEnergy,
})

export const embeddingList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: count,
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.object({
    prompt_tokens: count,
    total_tokens: count,
    energy_j: z.number().min(0),
    carbon_mg: z.number().min(0),
  }),
})

export const modelEntry = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: count,
  owned_by: z.string(),
  tiers: z.array(z.enum(['L0', 'L1', 'L2', 'L3'])),
  class: z.string(),
  modalities: z.array(z.string()),
  context_length: count,
  /** Energy of prompt and answer together, in the mixture that callers send. */
  energy_j_per_1k_tokens: z.object({ p50: z.number(), p95: z.number(), samples: count }),
  /** weak: it calls tools, but was not trained to choose when. */
  tools: z.enum(['none', 'weak', 'trained']),
  routed_to: z.string(),
  /**
   * unreachable: nobody answers there, or it failed again and again; unauthorized: its server refuses the key
   * that the operator gave.
   */
  state: z.enum(['ready', 'loading', 'failed', 'unreachable', 'unauthorized']),
  /** The model that serves an alias. Answers name that model. */
  alias_of: z.string().optional(),
})

export const modelList = z.object({
  object: z.literal('list'),
  data: z.array(modelEntry),
  has_more: z.literal(false),
})
