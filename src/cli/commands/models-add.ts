// ergon models add: a default model by name, a GGUF file by path, or an OpenAI-shaped server by address.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, progress, printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [model = ''] }: CommandCall): Promise<void> {
  const isServer = /^https?:\/\//.test(model)
  if (isServer && options['upstreamModel'] === undefined)
    throw new CommandError(
      '--upstream-model is needed: the name of the model at that server',
      EXIT.usage,
      `ergon models add ${model} --upstream-model <id>`,
    )
  const source = isServer
    ? { upstream: model }
    : existsSync(model)
      ? { file: resolve(model) }
      : { default: model }
  const body = {
    ...source,
    ...modelFields(options),
    ...(options['apiKeyStdin'] === true ? { api_key: (await text(process.stdin)).trim() } : {}),
  }
  const result = await control(options, { method: 'POST', path: '/models', body }, drawProgress)
  if (options.json) printJson(result)
  else tellAdded(result as Added)
}

type Added = { readonly id: string; readonly warning?: string }

const tellAdded = ({ id, warning }: Added) =>
  tell(warning === undefined ? `${id} is being served` : `${id} is added, but ${warning}`)

/** What options say of a model, as the operator's door wants it. */
export const modelFields = (options: CommandCall['options']) => ({
  name: options['name'],
  tier: options['tier'],
  context: numberOf(options['context']),
  tools: options['tools'],
  embedding: options['embedding'],
  image: options['image'],
  audio: options['audio'],
  dimensions: numberOf(options['dimensions']),
  upstream_model: options['upstreamModel'],
  nj_per_token: options['njPerToken'],
  carbon_zone: options['carbonZone'],
  operator: options['operator'],
  region: options['region'],
  silicon: options['silicon'],
  prompt_overhead_tokens: numberOf(options['promptOverheadTokens']),
})

const numberOf = (value: string | boolean | undefined) =>
  typeof value === 'string' ? Number(value) : undefined

export function drawProgress(line: unknown): void {
  const { what, done_bytes: done, total_bytes: total } = line as Record<string, unknown>
  if (typeof done === 'number' && typeof total === 'number') progress(String(what), done, total)
}
