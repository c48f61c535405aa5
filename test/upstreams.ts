// Remote models for tests: a small server of scripted answers, registered with a running Ergon the way
// an operator does it (`ergon models add http://…`).
import {
  DONE,
  frame,
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import type { Ergon } from './start-ergon.ts'

export const DIMENSIONS = 4
/** The honest upstream's answer, and its own count. */
export const ANSWER = 'Hello world'
export const PROMPT_TOKENS = 9
export const COMPLETION_TOKENS = 2

const USAGE = {
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: COMPLETION_TOKENS,
  total_tokens: PROMPT_TOKENS + COMPLETION_TOKENS,
}
const headOf = (object: string) => ({ id: 'up-1', object, created: 1, model: 'upstream-name' })

/** Answers chat, completions and embeddings as an OpenAI-shaped server does. */
export const honest: Script = ({ path, body }, response) => {
  if (path.endsWith('/embeddings')) {
    const inputs = Array.isArray(body['input']) ? body['input'] : [body['input']]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        object: 'list',
        model: 'upstream-name',
        data: inputs.map((_, index) => ({
          object: 'embedding',
          index,
          embedding: Array.from({ length: DIMENSIONS }, (__, at) => (at + 1) / 4),
        })),
        usage: { prompt_tokens: PROMPT_TOKENS, total_tokens: PROMPT_TOKENS },
      }),
    )
    return
  }
  const chat = path.endsWith('/chat/completions')
  if (body['stream'] === false) {
    const message = { role: 'assistant', content: ANSWER }
    const said = chat ? { message } : { text: ANSWER }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        ...headOf(chat ? 'chat.completion' : 'text_completion'),
        choices: [{ index: 0, ...said, finish_reason: 'stop' }],
        usage: USAGE,
      }),
    )
    return
  }
  const head = headOf(chat ? 'chat.completion.chunk' : 'text_completion')
  const piece = (text: string, finish: string | null) =>
    frame({
      ...head,
      choices: [
        {
          index: 0,
          ...(chat ? { delta: { role: 'assistant', content: text } } : { text }),
          finish_reason: finish,
        },
      ],
    })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const [first = '', second = ''] = ANSWER.split(/(?= )/)
  response.write(piece(first, null))
  response.write(piece(second, 'stop'))
  response.end(frame({ ...head, choices: [], usage: USAGE }) + DONE)
}

export type UpstreamOptions = {
  readonly script?: Script
  readonly embedding?: boolean
  readonly image?: boolean
  readonly audio?: boolean
  readonly context?: number
  readonly nj_per_token?: string
  readonly prompt_overhead_tokens?: number
  readonly carbon_zone?: string
  readonly api_key?: string
}

/** Starts a scripted server and registers it under `id`; for embeddings with its dimensions. */
export async function addUpstream(
  ergon: Ergon,
  id: string,
  { script = honest, embedding = false, ...more }: UpstreamOptions = {},
): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream('port', script)
  await ergon.control('model.add', {
    upstream: upstream.baseUrl,
    upstream_model: 'upstream-name',
    name: id,
    nj_per_token: '20000000',
    ...(embedding ? { embedding: true, dimensions: DIMENSIONS } : {}),
    ...more,
  })
  await ergon.waitForModel(id)
  return upstream
}
