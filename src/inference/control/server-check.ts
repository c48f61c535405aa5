// Requests one token from a server that is being added. A server that answers and cannot serve is refused: a wrong
// key, an address without an API. A silent server may not be up yet: it is added with a warning.
import { fault } from '#contract/errors.ts'
import { askModels } from '#inference/providers/ask-models.ts'
import type { UpstreamServer } from '#inference/providers/ask-server.ts'
import { askToken } from '#inference/providers/ask-token.ts'

const IDS_TOLD_MAX = 5

/**
 * A warning, where the server will not serve the model as things are, or undefined. Throws invalid_request for
 * a server that refuses the key, or has no API at the address.
 */
export async function checkServer(
  server: UpstreamServer,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { baseUrl, apiKey, model } = server
  const answer = await askToken(server, signal)
  switch (answer.kind) {
    case 'served':
      return undefined
    case 'unreached':
      return `${baseUrl} does not answer (${answer.why}); the model is "unreachable" until it does`
    case 'unauthorized': {
      const why = apiKey === undefined ? 'wants a key: add --api-key-stdin' : 'refuses the key'
      throw fault(
        'invalid_request',
        `Could not add the model: the server at ${baseUrl} answered ${answer.status}, it ${why}`,
        { param: 'api_key' },
      )
    }
    case 'no_api': {
      const hint = await addressHint(server, signal)
      throw fault(
        'invalid_request',
        `Could not add the model: no OpenAI-shaped server answers at ${baseUrl} (${answer.status})${hint}`,
        { param: 'upstream' },
      )
    }
    case 'no_model':
      return `${baseUrl} does not have the model "${model}"${await listHint(server, signal)}`
    case 'refused':
      return `${baseUrl} did not answer a request for one token: ${answer.why}`
  }
}

/** The commonest mistake: the address without `/v1`. */
async function addressHint(server: UpstreamServer, signal: AbortSignal): Promise<string> {
  const baseUrl = `${server.baseUrl}/v1`
  const answer = await askModels({ ...server, baseUrl }, signal)
  const isThere =
    answer.reached && (answer.ids !== undefined || answer.status === 401 || answer.status === 403)
  return isThere ? `; one does at ${baseUrl}` : ''
}

async function listHint(server: UpstreamServer, signal: AbortSignal): Promise<string> {
  const answer = await askModels(server, signal)
  const ids = (answer.reached ? answer.ids : undefined) ?? []
  if (ids.length === 0) return ''
  const some = ids.slice(0, IDS_TOLD_MAX).join(', ')
  return `; it lists ${some}${ids.length > IDS_TOLD_MAX ? ', …' : ''}`
}
