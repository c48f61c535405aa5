// POST /v1/chat/completions.
import { fault } from '#contract/errors.ts'
import type { ChatMessage, ChatRequest } from '#contract/inference/inference.ts'
import type { Handler, Reply } from '#http/reply.ts'
import type { WorkSize } from '#inference/admission.ts'
import type { Modality } from '#inference/catalogue.ts'
import { generate, type InferenceDeps } from '#inference/generation.ts'
import { knownReply, streamedReply } from '#inference/replies/reply.ts'
import { CHAT } from '#inference/replies/shape.ts'
import { choose } from '#inference/router/choose.ts'
import { hardest, scoreConversation, contentText } from '#inference/router/conversation.ts'
import type { RequestFacts } from '#inference/router/rules.ts'
import type { Score } from '#inference/router/scorer.ts'
import type { RoutedRequest } from './chat-ceiling.ts'
import { expectedOf, presentFields, streamOptionsOf } from '#inference/fields.ts'

/** Generates an answer to a conversation: a JSON body, or SSE chunks with `stream: true`. */
export const createChatCreate =
  (deps: InferenceDeps): Handler<ChatRequest> =>
  async (call) => {
    const request = call.body
    const { choice, work } = routeChat(deps, request)
    const streamed = request.stream === true
    const body = bodyOf(request, work)
    const plan = { operation: 'chat.create', choice, work, shape: 'chat', streamed, body } as const
    const asked = streamOptionsOf(request.stream_options)
    return generate<Reply>(deps, plan, call, (started) =>
      streamed
        ? streamedReply(deps, started, { shape: CHAT, ...asked })
        : knownReply(deps, started, CHAT),
    )
  }

/** Throws what refuses the request before a model is asked. */
export function routeChat(deps: InferenceDeps, request: ChatRequest): RoutedRequest {
  refuseUnserved(request)
  const work = workOf(request)
  const choice = choose(
    deps.catalogue.models(),
    {
      model: deps.catalogue.modelOf(request.model),
      facts: factsOf(request, work),
      ...expectedOf(work),
    },
    deps.learned,
    deps.failures.rests,
  )
  return { choice, work }
}

/** Throws unsupported_parameter for fields of OpenAI's shape that no model here serves. */
function refuseUnserved(request: ChatRequest): void {
  for (const [param, isSent, why] of UNSERVED)
    if (isSent(request))
      throw fault('unsupported_parameter', `Could not serve ${param}: ${why}`, { param })
}

const UNSERVED: readonly [param: string, isSent: (request: ChatRequest) => boolean, why: string][] =
  [
    ['functions', ({ functions }) => functions != null, 'use tools'],
    ['function_call', ({ function_call: call }) => call != null, 'use tool_choice'],
    ['web_search_options', ({ web_search_options: web }) => web != null, 'no model here searches'],
    [
      'modalities',
      ({ modalities }) => modalities?.includes('audio') === true,
      'no model here speaks',
    ],
  ]

const FORWARDED = [
  'messages',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'seed',
  'stop',
  'n',
  'logprobs',
  'top_logprobs',
  'response_format',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'verbosity',
] as const

const bodyOf = (request: ChatRequest, { maxTokens }: WorkSize): Record<string, unknown> => ({
  ...presentFields(request, FORWARDED),
  ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
})

function workOf(request: ChatRequest): WorkSize {
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? undefined
  return {
    promptBytes: promptBytesOf(request),
    formatBytes: jsonBytes(request.response_format),
    promptTexts: request.messages.length + (request.tools?.length ?? 0),
    media: partsOf(request).filter(({ type }) => type !== 'text').length,
    prompts: 1,
    choices: request.n ?? 1,
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
}

/** A text's UTF-8 bytes; templates add to tools and calls about as much as JSON does. */
function promptBytesOf({ messages, tools }: ChatRequest): number {
  const texts = messages.map((message) => Buffer.byteLength(contentText(message)))
  const structures = [tools, ...messages.map(callsOf)]
  return (
    texts.reduce((sum, bytes) => sum + bytes, 0) +
    structures.reduce<number>((sum, value) => sum + jsonBytes(value), 0)
  )
}

const jsonBytes = (value: unknown): number => (value ? Buffer.byteLength(JSON.stringify(value)) : 0)

const callsOf = (message: ChatMessage) => ('tool_calls' in message ? message.tool_calls : undefined)

function factsOf(request: ChatRequest, work: WorkSize): RequestFacts {
  const { tools, tool_choice: toolChoice, response_format: format } = request
  const usesTools = (tools ?? []).length > 0 && toolChoice !== 'none'
  const structured = format?.type === 'json_object' || format?.type === 'json_schema'
  const scores: Score[] = [scoreConversation(request.messages)]
  if (structured) scores.push({ tier: 'L1', because: 'response_format' })
  if (usesTools) scores.push({ tier: 'L1', because: 'tools' })
  if (isEffort(request.reasoning_effort)) scores.push({ tier: 'L3', because: 'reasoning_effort' })
  return {
    asks: 'text',
    inputs: inputsOf(request),
    tools: usesTools,
    structured,
    promptBytes: work.promptBytes,
    ...hardest(scores),
  }
}

const isEffort = (effort: ChatRequest['reasoning_effort']): boolean =>
  effort === 'medium' || effort === 'high' || effort === 'xhigh'

const partsOf = ({ messages }: ChatRequest): { readonly type: string }[] =>
  messages.flatMap(({ content }): { readonly type: string }[] =>
    typeof content === 'string' ? [] : (content ?? []),
  )

function inputsOf(request: ChatRequest): Modality[] {
  const parts = partsOf(request)
  const inputs: Modality[] = []
  if (parts.some(({ type }) => type === 'image_url')) inputs.push('image')
  if (parts.some(({ type }) => type === 'input_audio')) inputs.push('audio')
  return inputs
}
