// Requests of the inference operations: the OpenAI shapes of 2026, with our limits. Unknown fields
// are accepted, as SDKs send new ones before we know them, and stripped: an engine may read more than
// its caller should say (vLLM's kv_transfer_params names hosts, for instance).
import { z } from 'zod'
import { fault } from '#contract/errors.ts'
import { parseWith, pathText } from '#contract/values/parse.ts'
import {
  BIASES_MAX,
  CHOICES_MAX,
  IDS_MAX,
  INPUTS_MAX,
  MESSAGES_MAX,
  PARTS_MAX,
  STOPS_MAX,
  STOP_LENGTH_MAX,
  TOKENS_MAX,
  TOOLS_MAX,
} from './inference-limits.ts'

const NAME_LENGTH_MAX = 256

const name = z.string().min(1).max(NAME_LENGTH_MAX)
const stop = z.string().min(1).max(STOP_LENGTH_MAX)
const functionName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must match ^[A-Za-z0-9_-]{1,64}$')
const schemaObject = z.record(z.string(), z.unknown())
const tokenLimit = z.int().min(1).max(TOKENS_MAX)

const textPart = z.object({ type: z.literal('text'), text: z.string() })
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({
    // An address would be fetched from inside our network on a stranger's word (SSRF).
    url: z.string().startsWith('data:image/', 'must be a data: URL; no address is fetched for you'),
    detail: z.enum(['auto', 'low', 'high']).nullish(),
  }),
})
const audioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({ data: z.string().min(1), format: z.enum(['wav', 'mp3']) }),
})

const textContent = z.union([z.string(), z.array(textPart).min(1).max(PARTS_MAX)], {
  error: 'must be a string or an array of text parts',
})
const userPart = z.discriminatedUnion('type', [textPart, imagePart, audioPart])
const userContent = z.union([z.string(), z.array(userPart).min(1).max(PARTS_MAX)], {
  error: 'must be a string or an array of content parts',
})
const assistantContent = z.union(
  [
    z.string(),
    z
      .array(z.discriminatedUnion('type', [textPart, refusalPart]))
      .min(1)
      .max(PARTS_MAX),
  ],
  { error: 'must be a string or an array of text parts' },
)
const toolCall = z.object({
  id: name,
  type: z.literal('function'),
  function: z.object({ name: functionName, arguments: z.string() }),
})

const instruction = (role: 'system' | 'developer') =>
  z.object({ role: z.literal(role), content: textContent, name: name.nullish() })
const message = z.discriminatedUnion('role', [
  instruction('system'),
  instruction('developer'),
  z.object({ role: z.literal('user'), content: userContent, name: name.nullish() }),
  z
    .object({
      role: z.literal('assistant'),
      content: assistantContent.nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(toolCall).max(TOOLS_MAX).nullish(),
      name: name.nullish(),
    })
    .refine((m) => typeof (m.content ?? m.refusal) === 'string' || hasItems(m), {
      path: ['content'],
      error: 'must be present unless the message has tool_calls',
    }),
  z.object({ role: z.literal('tool'), tool_call_id: name, content: textContent }),
])
const hasItems = (m: { content?: unknown; tool_calls?: readonly unknown[] | null | undefined }) =>
  Array.isArray(m.content) || (m.tool_calls ?? []).length > 0

const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: functionName,
    description: z.string().nullish(),
    parameters: schemaObject.nullish(),
    strict: z.boolean().nullish(),
  }),
})
const toolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.object({
      type: z.literal('function'),
      function: z.object({ name: functionName }),
    }),
  ],
  { error: 'must be none, auto, required or a named function' },
)
const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: functionName,
      description: z.string().nullish(),
      schema: schemaObject.nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
])

/** Fields of both chat and completions. */
const sampling = {
  model: name,
  stream: z.boolean().nullish(),
  stream_options: z
    .object({
      include_usage: z.boolean().nullish(),
      /** Chunks carry the energy so far and the ceiling, as `energy`, four times a second at most. */
      include_energy: z.boolean().nullish(),
      include_obfuscation: z.boolean().nullish(),
    })
    .nullish(),
  max_tokens: tokenLimit.nullish(),
  n: z.int().min(1).max(CHOICES_MAX).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z
    .record(z.string().regex(/^\d{1,9}$/, 'must be a token id'), z.number().min(-100).max(100))
    .refine(
      (bias) => Object.keys(bias).length <= BIASES_MAX,
      `must have at most ${BIASES_MAX} entries`,
    )
    .nullish(),
  seed: z.int().nullish(),
  stop: z
    .union([stop, z.array(stop).max(STOPS_MAX)], {
      error: `must be a string or an array of at most ${STOPS_MAX} strings`,
    })
    .nullish(),
  user: z.string().max(1024).nullish(),
}

/** POST /v1/chat/completions. */
export const chatRequest = z
  .object({
    ...sampling,
    messages: z.array(message).min(1).max(MESSAGES_MAX),
    max_completion_tokens: tokenLimit.nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    response_format: responseFormat.nullish(),
    tools: z.array(tool).max(TOOLS_MAX).nullish(),
    tool_choice: toolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
    verbosity: z.enum(['low', 'medium', 'high']).nullish(),
    modalities: z.array(z.enum(['text', 'audio'])).nullish(),
    // Accepted and without effect: nothing is stored, cached for others or moderated here.
    audio: z.unknown().optional(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    moderation: z.unknown().optional(),
    prediction: z.unknown().optional(),
    prompt_cache_key: z.string().nullish(),
    prompt_cache_options: z.unknown().optional(),
    prompt_cache_retention: z.unknown().optional(),
    safety_identifier: z.string().nullish(),
    service_tier: z.string().nullish(),
    store: z.boolean().nullish(),
    web_search_options: z.unknown().optional(),
    functions: z.unknown().optional(),
    function_call: z.unknown().optional(),
  })
  .refine((body) => (body.top_logprobs ?? 0) === 0 || body.logprobs === true, {
    path: ['top_logprobs'],
    error: 'needs logprobs to be true',
  })
  .refine((body) => body.tool_choice !== 'required' || (body.tools ?? []).length > 0, {
    path: ['tool_choice'],
    error: 'needs tools',
  })
export type ChatRequest = z.infer<typeof chatRequest>
export type ChatMessage = ChatRequest['messages'][number]

const tokenIds = z.array(z.int().min(0)).min(1).max(IDS_MAX)

/** POST /v1/completions (the older text form). */
export const completionRequest = z
  .object({
    ...sampling,
    prompt: z.union(
      [
        z.string(),
        tokenIds,
        z.array(z.string()).min(1).max(INPUTS_MAX),
        z.array(tokenIds).min(1).max(INPUTS_MAX),
      ],
      { error: 'must be a string, an array of strings, or arrays of token ids' },
    ),
    best_of: z.int().min(1).max(CHOICES_MAX).nullish(),
    echo: z.boolean().nullish(),
    logprobs: z.int().min(0).max(5).nullish(),
    suffix: z.string().nullish(),
  })
  .refine((body) => (body.best_of ?? CHOICES_MAX) >= (body.n ?? 1), {
    path: ['best_of'],
    error: 'must not be less than n',
  })
export type CompletionRequest = z.infer<typeof completionRequest>

/** POST /v1/embeddings. */
export const embeddingRequest = z.object({
  model: name,
  input: z.union(
    [
      z.string().min(1),
      tokenIds,
      z.array(z.string().min(1)).min(1).max(INPUTS_MAX),
      z.array(tokenIds).min(1).max(INPUTS_MAX),
    ],
    { error: 'must be a string, an array of strings, or arrays of token ids; none may be empty' },
  ),
  dimensions: z.int().min(1).max(65_536).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  user: z.string().max(1024).nullish(),
})
export type EmbeddingRequest = z.infer<typeof embeddingRequest>

/** Each throws `invalid_request` with the path of the field at fault. */
export const parseChatRequest = (value: unknown): ChatRequest =>
  parseWith(chatRequest, withKeptNames(value))
export const parseCompletionRequest = (value: unknown): CompletionRequest =>
  parseWith(completionRequest, withKeptNames(value))
export const parseEmbeddingRequest = (value: unknown): EmbeddingRequest =>
  parseWith(embeddingRequest, value)

/** Fields whose names are the caller's, as paths; `*` is any item. */
const FREE_NAMES = [
  ['logit_bias'],
  ['metadata'],
  ['response_format', 'json_schema', 'schema'],
  ['tools', '*', 'function', 'parameters'],
] as const

/** The value, if none of those records has the name that zod leaves out without a word. */
function withKeptNames(value: unknown): unknown {
  for (const path of FREE_NAMES) refuseLostName(value, path, [])
  return value
}

function refuseLostName(
  value: unknown,
  [next, ...rest]: readonly string[],
  above: readonly PropertyKey[],
): void {
  if (typeof value !== 'object' || value === null) return
  if (next === undefined) {
    if (!Object.hasOwn(value, LOST_NAME)) return
    const param = pathText([...above, LOST_NAME])
    throw fault('invalid_request', `Could not accept ${param}: it is no name that can be kept`, {
      param,
    })
  }
  if (next !== '*') {
    const field = fieldOf(value, next)
    // Most requests have none of them.
    return field === undefined ? undefined : refuseLostName(field, rest, [...above, next])
  }
  if (!Array.isArray(value)) return
  for (const [index, item] of value.slice(0, TOOLS_MAX).entries())
    refuseLostName(item, rest, [...above, index])
}

const LOST_NAME = '__proto__'

const fieldOf = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
