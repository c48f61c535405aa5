// Asks a server for its models, GET /models with its key. It costs the server nothing, and says nothing of
// whether its answers will be good; ask-token.ts asks for that.
import { askServer, type UpstreamServer } from './ask-server.ts'

export type ModelsAnswer =
  /** Nobody took the connection. */
  | { readonly reached: false; readonly why: string }
  | {
      readonly reached: true
      /** Absent when it said nothing in time. */
      readonly status?: number
      /** Names of its models, where it lists them. */
      readonly ids?: readonly string[]
    }

/** For the connection and the answer together: the operator who adds a model waits for it. */
const ASK_MS_MAX = 2_000

/** Never rejects, except with the signal's reason. */
export async function askModels(
  server: Pick<UpstreamServer, 'baseUrl' | 'apiKey'>,
  signal: AbortSignal,
): Promise<ModelsAnswer> {
  const answer = await askServer(server, { path: '/models', answerMsMax: ASK_MS_MAX }, signal)
  if (!answer.reached) return answer
  const { status, text } = answer
  if (status === undefined) return { reached: true }
  return { reached: true, status, ...(status === 200 ? idsIn(text) : {}) }
}

function idsIn(text: string): { ids?: readonly string[] } {
  try {
    const list = JSON.parse(text) as { data?: unknown } | null
    if (!Array.isArray(list?.data)) return {}
    const ids = list.data.map((model: { id?: unknown } | null) => model?.id)
    return { ids: ids.filter((id) => typeof id === 'string') }
  } catch {
    return {}
  }
}
