// ergon models add: a default model by name, a GGUF file by path, or an OpenAI-shaped server by address.
import { existsSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell, tellWork, withProgressBar } from '#cli/output.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { TIERS } from '#contract/ledger/charge.ts'
import type { ControlAnswer, ControlRequest } from '#contract/control.ts'

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
  const added = await addModel(options, body)
  if (options.json) printJson(added)
  else tellAdded(added)
}

const workOn = (model: string, isServer: boolean) =>
  isServer ? `asking ${model}` : `fetching and loading ${model}`

const tellAdded = ({ id, warning }: ControlAnswer<'model.add'>) =>
  tell(warning === undefined ? `${id} is being served` : `${id} is added, but ${warning}`)

/** The fields of a request that the options of a command name. */
export const modelFields = (options: CommandCall['options']) => {
  const text = (name: string) => textOption(options, name)
  const number = (name: string) => {
    const given = text(name)
    return given === undefined ? undefined : Number(given)
  }
  const flag = (name: string) => (options[name] === true ? true : undefined)
  return {
    name: text('name'),
    tier: tierOption(options),
    context: number('context'),
    tools: flag('tools'),
    embedding: flag('embedding'),
    image: flag('image'),
    audio: flag('audio'),
    dimensions: number('dimensions'),
    upstream_model: text('upstreamModel'),
    nj_per_token: text('njPerToken'),
    carbon_zone: text('carbonZone'),
    operator: text('operator'),
    region: text('region'),
    silicon: text('silicon'),
    prompt_overhead_tokens: number('promptOverheadTokens'),
  }
}

function tierOption(options: CommandCall['options']) {
  const given = textOption(options, 'tier')
  const tier = TIERS.find((known) => known === given)
  if (given === undefined || tier !== undefined) return tier
  throw new CommandError(`--tier is one of ${TIERS.join(', ')}, not: ${given}`, EXIT.usage)
}

/** Adds a model through the operator's API, and draws the progress of its files. */
export const addModel = (options: CommandCall['options'], request: ControlRequest<'model.add'>) =>
  withProgressBar((bar) =>
    control(options, 'model.add', request, ({ what, done_bytes: done, total_bytes: total }) =>
      bar.show(what, done, total ?? undefined),
    ),
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
