// What an operator should know of a server that is being added. Not an error: one may be added before it is
// up, and it is asked again until it answers.
import type { Secret } from '#base/log.ts'
import { askModels } from '#inference/providers/ask-models.ts'

const IDS_TOLD_MAX = 5

/** Why the server will not serve the model as things are, or undefined. */
export async function serverWarning(
  server: { readonly baseUrl: string; readonly apiKey?: Secret; readonly model: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { baseUrl, apiKey, model } = server
  const answer = await askModels(server, signal)
  if (!answer.reached)
    return `${baseUrl} does not answer (${answer.why}); the model is "unreachable" until it does`
  const { status, ids } = answer
  if (status === 401 || status === 403)
    return apiKey === undefined
      ? `${baseUrl} wants a key (${status}): remove the model and add it again with --api-key-stdin`
      : `${baseUrl} refuses the key (${status}): remove the model and add it again with the right one`
  if (ids === undefined || ids.length === 0 || ids.includes(model)) return undefined
  const some = ids.slice(0, IDS_TOLD_MAX).join(', ')
  return `${baseUrl} does not list the model "${model}"; it lists ${some}${ids.length > IDS_TOLD_MAX ? ', …' : ''}`
}
