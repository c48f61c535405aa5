// Reading of the request fields that all generating operations share.
import type { ChatRequest } from '#contract/inference/inference.ts'
import type { AskedOfStream } from './replies/reply.ts'
import type { WorkSize } from './admission.ts'
import type { RoutingRequest } from './router/choose.ts'

/** The named fields that are present; null is absent, as in OpenAI's API. */
export function presentFields<T extends object>(
  request: T,
  names: readonly (keyof T & string)[],
): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const name of names) {
    const value = request[name]
    if (value !== undefined && value !== null) fields[name] = value
  }
  return fields
}

type StreamOptions = ChatRequest['stream_options']

const BYTES_PER_TOKEN = 4
const ANSWER_TOKENS = 256

/** Fields of `stream_options` that a stream obeys. */
export const streamOptionsOf = (options: StreamOptions): AskedOfStream => ({
  includeUsage: options?.include_usage === true,
  includeEnergy: options?.include_energy === true,
})

/** Expected size of the work, to compare costs by: not a bound. */
export const expectedOf = (work: WorkSize): Pick<RoutingRequest, 'tokens' | 'prompts'> => ({
  tokens: {
    prompt: Math.ceil(work.promptBytes / BYTES_PER_TOKEN),
    completion:
      Math.min(work.maxTokens ?? ANSWER_TOKENS, ANSWER_TOKENS) * work.prompts * work.choices,
  },
  prompts: work.prompts,
})
