// The operator's operations on models: add a model by default name, file, download or server; remove a model.
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pullUrl } from '#artifacts/pull.ts'
import { encrypt } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'
import { larger, nj } from '#base/units.ts'
import { WORD, WORD_IN_WORDS } from '#config/checks.ts'
import {
  FILE_FIELDS,
  SERVER_FIELDS,
  type INFERENCE_CONTROL,
  type NewModelRequest,
} from '#contract/inference/control.ts'
import type { ControlCall, ControlHandlers } from '#contract/control-operation.ts'
import type { ControlLine } from '#contract/control.ts'
import { fault } from '#contract/errors.ts'
import { AUTO } from '#inference/catalogue.ts'
import { ZONES, zoneKnown } from '#metering/carbon.ts'
import { DEFAULT_MODELS } from '#inference/models/default-models.ts'
import { demandGguf, demandOwnFolder } from '#inference/models/files.ts'
import type { ModelFleet, NewModel } from '#inference/models/fleet.ts'
import type { State } from '#state/connect.ts'
import { checkServer } from './server-check.ts'

type Body = NewModelRequest
type AddCall = ControlCall<ControlLine<'model.add'>>

const NAME = /^[a-z0-9][a-z0-9-]{0,54}$/
// Energy of a remote server's token when the operator declares none: an 8 B model at batch 64 on an H100, 0.12 to
// 0.20 J (ML.ENERGY), with the host's share and PUE on top. The band covers the error.
const UPSTREAM_NJ_PER_TOKEN = '300000000'
const UPSTREAM_BAND_PCT = 100
const UNDECLARED = 'unknown'
// A local file before our own charges tell: each token reads all of it, and the 135 M model's 98 MB take
// 32 mJ. Ceilings rest on it: at that for a file of 4 GB every answer was cut, and nothing learned.
const LOCAL_NJ_PER_TOKEN = 32_000_000n
const LOCAL_BYTES_PER_NJ = 3n

type Deps = {
  readonly fleet: ModelFleet
  readonly state: State
  readonly modelsFolder: string
  /** Resolves when the gateways have read the table. */
  readonly confirmed: () => Promise<void>
  /** Encrypts keys of upstreams. */
  readonly key: Secret
  /** The operator of this node, for its customers. */
  readonly operator: string
}

type ListedModel = {
  id: string
  state: string
  reason: string | null
  is_default: boolean
  source: Record<string, unknown> | null
}

export const modelHandlers = (deps: Deps) =>
  ({
    'model.list': async () =>
      (
        await deps.state.query<ListedModel>(
          'select id, state, reason, is_default, source from models order by position, id',
        )
      ).rows,
    'model.add': async (body, call) => {
      const model = await newModel(body, deps, call)
      const warning = await warningOf(model, body, call.signal)
      await deps.fleet.add(model)
      await deps.confirmed()
      return { id: model.id, warning }
    },
    'model.remove': async ({ model }) => {
      await deps.fleet.remove(model)
      await deps.confirmed()
      return { id: model, removed: true as const }
    },
  }) satisfies Partial<ControlHandlers<typeof INFERENCE_CONTROL>>

async function newModel(body: Body, deps: Deps, call: AddCall): Promise<NewModel> {
  if (body.upstream !== undefined) return upstreamModel(body, body.upstream, deps)
  // The model's existence is checked first: other fields of an unknown model are not the fault.
  const known = body.default === undefined ? undefined : defaultModel(body.default)
  // Accepted for another kind of model, such a field would do nothing.
  demandAbsent(body, SERVER_FIELDS, 'is for servers; what is served here is measured')
  if (known !== undefined) {
    demandAbsent(body, FILE_FIELDS, 'is for files and servers; a default model is served as it is')
    return known
  }
  if (body.pull !== undefined) return fileModel(body, await pulled(body, deps.modelsFolder, call))
  return fileModel(body, needed(body, 'file'))
}

/** A field that this kind of model needs. Throws invalid_request when it is absent. */
function needed(body: Body, name: 'file' | 'sha256' | 'upstream_model'): string {
  const value = body[name]
  if (value !== undefined) return value
  throw fault('invalid_request', `Could not add the model: "${name}" is needed`, { param: name })
}

/** Throws invalid_request for a server that cannot serve. */
async function warningOf(model: NewModel, body: Body, signal: AbortSignal) {
  if (!('upstream' in model)) return undefined
  const { base_url: baseUrl } = model.upstream
  const isEmbedding = body.embedding === true
  return checkServer({ baseUrl, ...apiKeyOf(body), model: model.upstreamId, isEmbedding }, signal)
}

const apiKeyOf = ({ api_key: key }: Body): { apiKey?: Secret } =>
  key === undefined ? {} : { apiKey: new Secret(key) }

function demandAbsent(body: Body, names: readonly (keyof Body)[], why: string): void {
  const name = names.find((known) => body[known] !== undefined)
  if (name === undefined) return
  throw fault('invalid_request', `Could not add the model: "${name}" ${why}`, { param: name })
}

function defaultModel(name: string): NewModel {
  const known = DEFAULT_MODELS.find((model) => model.id === name)
  if (known !== undefined) return known
  const names = DEFAULT_MODELS.map((model) => model.id).join(', ')
  throw fault(
    'model_not_found',
    `Could not add "${name}": it is no file, no address, and none of ${names}`,
  )
}

async function fileModel(body: Body, path: string): Promise<NewModel> {
  await demandGguf(path)
  demandOwnFolder(path)
  const isEmbedding = body.embedding === true
  if (inputsOf(body).length > 0)
    throw fault(
      'invalid_request',
      'Could not add the model: a file runs in our own engine, which takes text only; image and audio are for servers',
    )
  const { context, dimensions } = body
  const contextSize = context ?? (isEmbedding ? 512 : 4096)
  const hasTools = body.tools === true
  const { size } = await stat(path)
  const njPerToken = larger(nj(LOCAL_NJ_PER_TOKEN), nj(BigInt(size) / LOCAL_BYTES_PER_NJ))
  return {
    id: nameOf(body, basename(path).replace(/\.gguf$/i, '')),
    source: { path },
    engine: {
      kind: isEmbedding ? 'embedding' : 'chat',
      contextSize,
      isContextAsked: context !== undefined,
      ...(dimensions === undefined ? {} : { dimensions }),
      sequences: isEmbedding ? 1 : 4,
      threads: 1,
      ...(isEmbedding ? {} : { tools: hasTools }),
    },
    offer: {
      ...offerOf(body, njPerToken.toString()),
      ownedBy: 'operator',
      modalities: [isEmbedding ? 'embedding' : 'text'],
      context: contextSize,
      tools: isEmbedding ? 'none' : hasTools ? 'trained' : 'weak',
      structured: !isEmbedding,
      ...(dimensions === undefined ? {} : { embeddingDimensions: dimensions }),
    },
  }
}

function upstreamModel(body: Body, upstream: string, { key, operator }: Deps): NewModel {
  const url = serverAddress(upstream)
  const baseUrl = url.href.replace(/\/$/, '')
  const { apiKey } = apiKeyOf(body)
  const upstreamId = needed(body, 'upstream_model')
  const isEmbedding = body.embedding === true
  const inputs = inputsOf(body)
  if (isEmbedding && inputs.length > 0)
    throw fault('invalid_request', 'Could not add the model: an embedding model takes text only')
  const { dimensions, prompt_overhead_tokens: promptOverheadTokens } = body
  return {
    id: nameOf(body, upstreamId),
    upstream: {
      base_url: baseUrl,
      band_pct: UPSTREAM_BAND_PCT,
      ...zoneOf(body),
      // Bound to its address: changed in the state it would not be sent anywhere else.
      ...(apiKey === undefined ? {} : { api_key_encrypted: encrypt(apiKey, key, baseUrl) }),
    },
    upstreamId,
    routedTo: routedToOf(body, operator),
    offer: {
      ...offerOf(body, UPSTREAM_NJ_PER_TOKEN),
      ownedBy: wordOf(body, 'operator') ?? 'operator',
      modalities: isEmbedding ? ['embedding'] : ['text', ...inputs],
      context: body.context ?? 4096,
      tools: body.tools === true ? 'trained' : 'none',
      structured: !isEmbedding,
      ...(promptOverheadTokens === undefined ? {} : { promptOverheadTokens }),
      ...(dimensions === undefined ? {} : { embeddingDimensions: dimensions }),
    },
  }
}

/**
 * An undeclared route is unknown: nothing says that the server stands where this node does, and its address is the
 * operator's alone. The route names this node's operator.
 */
const routedToOf = (body: Body, operator: string): string =>
  [
    wordOf(body, 'operator') ?? operator,
    wordOf(body, 'region') ?? UNDECLARED,
    wordOf(body, 'silicon') ?? UNDECLARED,
  ].join('/')

function wordOf(body: Body, name: 'operator' | 'region' | 'silicon'): string | undefined {
  const value = body[name]
  if (value === undefined || WORD.test(value)) return value
  throw fault('invalid_request', `Could not add the model: "${name}" must be ${WORD_IN_WORDS}`, {
    param: name,
  })
}

/** Where the server draws its power. Throws invalid_request for a zone that is not built in. */
function zoneOf(body: Body): { carbon_zone?: string } {
  const zone = body.carbon_zone
  if (zone === undefined) return {}
  if (zoneKnown(zone)) return { carbon_zone: zone }
  throw fault(
    'invalid_request',
    `Could not add the model: "carbon_zone" is one of ${ZONES.join(', ')}`,
    { param: 'carbon_zone' },
  )
}

/** Input kinds of a chat model beside text. */
const inputsOf = (body: Body) =>
  (['image', 'audio'] as const).filter((modality) => body[modality] === true)

/** Throws invalid_request for text that is no address, or has a password in it: lists would print the password. */
function serverAddress(text: string): URL {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  // A query or a fragment would be dropped from requests, which would then go to another address than the given one.
  const isPlain = !/[?#]/.test(text) && url?.username === '' && url.password === ''
  if (url !== null && isHttp && isPlain) return url
  throw fault(
    'invalid_request',
    'Could not add the model: "upstream" is an http or https address without a password, a query or a fragment',
    { param: 'upstream' },
  )
}

function offerOf(body: Body, njPerToken: string) {
  const { tier = 'L1', nj_per_token: declared = njPerToken } = body
  return {
    tier,
    class: 'standard',
    njPerCompletionToken: declared,
    // A prompt token costs about half a generated one: 5.2 against 11.3 CPU ms, measured on one model.
    njPerPromptToken: halfOf(BigInt(declared)).toString(),
  } as const
}

/** Rounded down, but not to nothing: no token is free. */
const halfOf = (declaredNj: bigint): bigint => (declaredNj > 1n ? declaredNj / 2n : 1n)

function nameOf(body: Body, otherwise: string): string {
  const name = body.name ?? otherwise.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-')
  if (name === AUTO)
    throw fault(
      'invalid_request',
      `Could not add the model: "${AUTO}" asks the router for the best one; give another --name`,
      { param: 'name' },
    )
  if (NAME.test(name)) return name
  throw fault(
    'invalid_request',
    `Could not add the model: "${name}" is no name (lower-case letters, digits, dashes)`,
  )
}

/** Downloads with resume and checks the hash; what is there and right is not fetched again. */
async function pulled(body: Body, folder: string, { signal, progress }: AddCall): Promise<string> {
  const { pull: url = '' } = body
  const what = basename(url)
  return await pullUrl({
    url,
    sha256: needed(body, 'sha256'),
    folder,
    signal,
    progress: (doneBytes: number, totalBytes: number | undefined) =>
      progress({ what, done_bytes: doneBytes, total_bytes: totalBytes ?? null }),
  })
}
