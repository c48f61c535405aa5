// ergon models add: a default model by name, a GGUF file by path, or an OpenAI-shaped server by address.
import { existsSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell, tellWork, withProgressBar } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [model = ''] }: CommandCall): Promise<void> {
  const isServer = /^https?:\/\//.test(model)
  if (isServer && options['upstreamModel'] === undefined)
    throw new CommandError(
      '--upstream-model is needed: the name of the model at that server',
      EXIT.usage,
      `ergon models add ${model} --upstream-model <id>`,
    )
  const body = {
    ...(isServer ? { upstream: model } : localSource(model)),
    ...modelFields(options),
    ...(options['apiKeyStdin'] === true ? { api_key: (await text(process.stdin)).trim() } : {}),
  }
  tellWork('file' in body ? `loading ${basename(model)}` : workOn(model, isServer))
  const result = await addModel(options, body)
  if (options.json) printJson(result)
  else tellAdded(result as Added)
}

const workOn = (model: string, isServer: boolean) =>
  isServer ? `asking ${model}` : `fetching and loading ${model}`

type Added = { readonly id: string; readonly warning?: string }

const tellAdded = ({ id, warning }: Added) =>
  tell(warning === undefined ? `${id} is being served` : `${id} is added, but ${warning}`)

/** The fields of a model in the operator's API, from the command's options. */
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

/** Adds a model through the operator's API, and draws the progress of its files. */
export const addModel = (options: CommandCall['options'], body: object): Promise<unknown> =>
  withProgressBar((bar) =>
    control(options, { method: 'POST', path: '/models', body }, (line) => {
      const { what, done_bytes: done, total_bytes: total } = line as Record<string, unknown>
      if (typeof done === 'number')
        bar.show(String(what), done, typeof total === 'number' ? total : undefined)
    }),
  )

/** A file where there is one; else the name of a default model, unless the word can only be a path. */
function localSource(model: string): { file: string } | { default: string } {
  if (existsSync(model)) {
    if (!statSync(model).isDirectory()) return { file: resolve(model) }
    throw new CommandError(`A folder, not a GGUF file: ${model}`)
  }
  if (!/[/\\]|^[.~]|\.gguf$|:\d/i.test(model)) return { default: model }
  const isAddress = /^[\w.[\]-]+(:\d+)(\/|$)/.test(model)
  throw new CommandError(
    `No such file: ${model}`,
    EXIT.failed,
    isAddress ? `ergon models add http://${model} --upstream-model <id>, for a server` : undefined,
  )
}
