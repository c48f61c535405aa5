// Probes an upstream, with its key, by one token of a model (an encoder by one embedding). The list of models says too
// little: it may be public, or missing, where the model itself needs a key. The operator pays for the token.
import { askServer, type UpstreamServer } from './ask-server.ts'
import { errorOf } from './openai/upstream-error.ts'

export type TokenAnswer =
  | { readonly kind: 'served' }
  /** Nobody took the connection. */
  | { readonly kind: 'unreached'; readonly why: string }
  /** It wants a key, or refuses the one that it got. */
  | { readonly kind: 'unauthorized'; readonly status: number }
  /** There is no such path, or its answer is not of OpenAI's form. */
  | { readonly kind: 'no_api'; readonly status: number }
  /** The path is there, and the model is not. */
  | { readonly kind: 'no_model'; readonly message: string }
  /** Another refusal, or silence: a later request may be served. */
  | { readonly kind: 'refused'; readonly why: string }

/** A server that loads its model at the first request may take as long. */
const ASK_MS_MAX = 20_000

/** Never rejects, except with the signal's reason. */
export async function askToken(server: UpstreamServer, signal: AbortSignal): Promise<TokenAnswer> {
  const answer = await askServer(server, { ...questionTo(server), answerMsMax: ASK_MS_MAX }, signal)
  if (!answer.reached) return { kind: 'unreached', why: answer.why }
  const { status, text } = answer
  if (status === undefined)
    return { kind: 'refused', why: `it said nothing for ${ASK_MS_MAX / 1000} s` }
  if (status === 401 || status === 403) return { kind: 'unauthorized', status }
  const { message } = errorOf(text)
  if (status === 404 && /model/i.test(message)) return { kind: 'no_model', message }
  if (status === 404 || status === 405 || isRedirect(status)) return { kind: 'no_api', status }
  if (status === 200)
    return isInShape(text, server) ? { kind: 'served' } : { kind: 'no_api', status }
  return {
    kind: 'refused',
    why: message === '' ? `it answered ${status}` : `${status}: ${message}`,
  }
}

/** Requests of callers do not follow one: a key goes to the address that it was given for. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400

const questionTo = ({ model, isEmbedding }: UpstreamServer) =>
  isEmbedding
    ? { path: '/embeddings', body: { model, input: 'Hi' } }
    : {
        path: '/chat/completions',
        body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 },
      }

function isInShape(text: string, { isEmbedding }: UpstreamServer): boolean {
  try {
    const answer = JSON.parse(text) as { choices?: unknown; data?: unknown } | null
    return Array.isArray(isEmbedding ? answer?.data : answer?.choices)
  } catch {
    return false
  }
}
