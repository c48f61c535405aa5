// POST /v1/completions, the older text form.
import { fault } from '#contract/errors.ts'
import type { CompletionRequest } from '#contract/inference/inference.ts'
import type { Handler, Reply } from '#http/reply.ts'
import type { WorkSize } from '#inference/admission.ts'
import { generate, type InferenceDeps } from '#inference/generation.ts'
import { knownReply, streamedReply } from '#inference/replies/reply.ts'
import { TEXT } from '#inference/replies/shape.ts'
import { choose } from '#inference/router/choose.ts'
import type { RequestFacts } from '#inference/router/rules.ts'
import { scoreText } from '#inference/router/scorer.ts'
import type { RoutedRequest } from './chat-ceiling.ts'
import { expectedOf, presentFields, streamOptionsOf } from '#inference/fields.ts'
import { textsOf, textBytes } from '#inference/texts.ts'

/** OpenAI's default, which chat does not have. */
const MAX_TOKENS_DEFAULT = 16

/** Continues one or several texts: a JSON body, or SSE chunks with `stream: true`. */
export const createCompletionCreate =
  (deps: InferenceDeps): Handler<CompletionRequest> =>
  async (call) => {
    const request = call.body
    const { choice, work } = routeCompletion(deps, request)
    const body = { ...presentFields(request, FORWARDED), max_tokens: work.maxTokens }
    const streamed = request.stream === true
    const named = { operation: 'completion.create', shape: 'text' } as const
    const asked = streamOptionsOf(request.stream_options)
    const plan = { ...named, choice, work, streamed, body }
    return generate<Reply>(deps, plan, call, (started) =>
      streamed
        ? streamedReply(deps, started, { shape: TEXT, ...asked })
        : knownReply(deps, started, TEXT),
    )
  }

/** Throws what refuses the request before a model is asked. */
export function routeCompletion(deps: InferenceDeps, request: CompletionRequest): RoutedRequest {
  if ((request.best_of ?? 1) > (request.n ?? 1))
    // Answers may be read as streams, and the best of several is known only at their end.
    throw fault('unsupported_parameter', 'Could not serve best_of: ask for n and choose', {
      param: 'best_of',
    })
  const work = workOf(request)
  const choice = choose(
    deps.catalogue.models(),
    { model: deps.catalogue.modelOf(request.model), facts: factsOf(request), ...expectedOf(work) },
    deps.learned,
    deps.failures.rests,
  )
  return { choice, work }
}

const FORWARDED = [
  'prompt',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'seed',
  'stop',
  'n',
  'logprobs',
  'echo',
  'suffix',
] as const

function workOf(request: CompletionRequest): WorkSize {
  const texts = textsOf(request.prompt)
  return {
    promptBytes: textBytes(texts) + Buffer.byteLength(request.suffix ?? ''),
    promptTexts: texts.length,
    prompts: texts.length,
    choices: request.n ?? 1,
    maxTokens: request.max_tokens ?? MAX_TOKENS_DEFAULT,
  }
}

function factsOf(request: CompletionRequest): RequestFacts {
  const texts = textsOf(request.prompt)
  const [first] = texts
  return {
    asks: 'text',
    inputs: [],
    tools: false,
    structured: false,
    promptBytes: Math.max(...texts.map((text) => textBytes([text]))),
    ...(typeof first === 'string'
      ? scoreText(first)
      : { tier: 'L1', because: 'tokens cannot be judged' }),
  }
}
