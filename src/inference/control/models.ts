// Operator operations on models: add one by default name, file, download or server; remove one.
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pullUrl } from '#artifacts/pull.ts'
import { encrypt } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'
import { larger, nj } from '#base/units.ts'
import { WORD, WORD_IN_WORDS } from '#config/checks.ts'
import { TIERS } from '#contract/charge.ts'
import { fault } from '#contract/errors.ts'
import { AUTO } from '#inference/catalogue.ts'
import { ZONES, zoneKnown } from '#metering/carbon.ts'
import { DEFAULT_MODELS } from '#inference/models/default-models.ts'
import { demandGguf, demandOwnFolder } from '#inference/models/files.ts'
import type { ModelFleet, NewModel } from '#inference/models/fleet.ts'
import type { State } from '#state/connect.ts'
import { textOf, type ControlCall, type ControlRoute } from '#node/control/control.ts'
import { checkServer } from './server-check.ts'

type Body = ControlCall['body']

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

// Accepted for another kind of model they would do nothing.
const OF_SERVERS = [
  'upstream_model',
  'api_key',
  'nj_per_token',
  'carbon_zone',
  'prompt_overhead_tokens',
  'operator',
  'region',
  'silicon',
] as const
const OF_FILES = [
  'name',
  'tier',
  'context',
  'tools',
  'embedding',
  'image',
  'audio',
  'dimensions',
] as const

type Deps = {
  readonly fleet: ModelFleet
  readonly state: State
  readonly modelsFolder: string
  /** Resolves when the gateways know what the table says. */
  readonly confirmed: () => Promise<void>
  /** Encrypts keys of upstreams. */
  readonly key: Secret
  /** The operator of this node, for its customers. */
  readonly operator: string
}

export const modelRoutes = (deps: Deps): readonly ControlRoute[] => [
  {
    method: 'GET',
    path: /^\/models$/,
    handle: async () =>
      (
        await deps.state.query(
          'select id, state, reason, is_default, source from models order by position, id',
        )
      ).rows,
  },
  {
    method: 'POST',
    path: /^\/models$/,
    members: ['default', 'file', 'pull', 'sha256', 'upstream', ...OF_FILES, ...OF_SERVERS],
    handle: async (call) => {
      const model = await newModel(call, deps)
      const warning = await warningOf(model, call)
      await deps.fleet.add(model)
      await deps.confirmed()
      return { id: model.id, ...(warning === undefined ? {} : { warning }) }
    },
  },
  {
    method: 'DELETE',
    path: /^\/models\/([^/]+)$/,
    handle: async ({ parameters: [id = ''] }) => {
      await deps.fleet.remove(id)
      await deps.confirmed()
      return { id, removed: true }
    },
  },
]

async function newModel(call: ControlCall, deps: Deps): Promise<NewModel> {
  const { body } = call
  if (typeof body['upstream'] === 'string') return upstreamModel(body, deps)
  // The model's existence is checked first: other fields of an unknown model are not the fault.
  const known = typeof body['default'] === 'string' ? defaultModel(body['default']) : undefined
  demandAbsent(body, OF_SERVERS, 'is for servers; what is served here is measured')
  if (known !== undefined) {
    demandAbsent(body, OF_FILES, 'is for files and servers; a default model is served as it is')
    return known
  }
  if (typeof body['pull'] === 'string')
    return fileModel(body, await pulled(call, deps.modelsFolder))
  return fileModel(body, textOf(body, 'file'))
}

/** Throws invalid_request for a server that cannot serve. */
async function warningOf(model: NewModel, { body, signal }: ControlCall) {
  if (!('upstream' in model)) return undefined
  const { base_url: baseUrl } = model.upstream
  const isEmbedding = body['embedding'] === true
  return checkServer({ baseUrl, ...apiKeyOf(body), model: model.upstreamId, isEmbedding }, signal)
}

const apiKeyOf = ({ api_key: key }: Body): { apiKey?: Secret } =>
  typeof key === 'string' ? { apiKey: new Secret(key) } : {}

function demandAbsent(body: Body, names: readonly string[], why: string): void {
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
  const isEmbedding = body['embedding'] === true
  if (inputsOf(body).length > 0)
    throw fault(
      'invalid_request',
      'Could not add the model: a file runs in our own engine, which takes text only; image and audio are for servers',
    )
  const context = integerOf(body, 'context')
  const contextSize = context ?? (isEmbedding ? 512 : 4096)
  const dimensions = integerOf(body, 'dimensions')
  const hasTools = body['tools'] === true
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

function upstreamModel(body: Body, { key, operator }: Deps): NewModel {
  const url = addressOf(body)
  const baseUrl = url.href.replace(/\/$/, '')
  const { apiKey } = apiKeyOf(body)
  const upstreamId = textOf(body, 'upstream_model')
  const isEmbedding = body['embedding'] === true
  const inputs = inputsOf(body)
  if (isEmbedding && inputs.length > 0)
    throw fault('invalid_request', 'Could not add the model: what embeds takes text only')
  const dimensions = integerOf(body, 'dimensions')
  const promptOverheadTokens = integerOf(body, 'prompt_overhead_tokens', 0)
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
      context: integerOf(body, 'context') ?? 4096,
      tools: body['tools'] === true ? 'trained' : 'none',
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

function wordOf(body: Body, name: string): string | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && WORD.test(value)) return value
  throw fault('invalid_request', `Could not add the model: "${name}" must be ${WORD_IN_WORDS}`, {
    param: name,
  })
}

/** Where the server draws its power. Throws invalid_request for a zone that is not built in. */
function zoneOf(body: Body): { carbon_zone?: string } {
  const zone = body['carbon_zone']
  if (zone === undefined) return {}
  if (typeof zone === 'string' && zoneKnown(zone)) return { carbon_zone: zone }
  throw fault(
    'invalid_request',
    `Could not add the model: "carbon_zone" is one of ${ZONES.join(', ')}`,
    { param: 'carbon_zone' },
  )
}

/** Input kinds of a chat model beside text. */
const inputsOf = (body: Body) =>
  (['image', 'audio'] as const).filter((modality) => body[modality] === true)

/** Throws invalid_request for what is no address, or has a password in it: lists would print it. */
function addressOf(body: Body): URL {
  const text = textOf(body, 'upstream')
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  // A query or a fragment would be left out of what is asked: another address than the one that was given.
  const isPlain = !/[?#]/.test(text) && url?.username === '' && url.password === ''
  if (url !== null && isHttp && isPlain) return url
  throw fault(
    'invalid_request',
    'Could not add the model: "upstream" is an http or https address without a password, a query or a fragment',
    { param: 'upstream' },
  )
}

function offerOf(body: Body, njPerToken: string) {
  const tier = TIERS.find((known) => known === (body['tier'] ?? 'L1'))
  if (tier === undefined)
    throw fault(
      'invalid_request',
      `Could not add the model: the tier is one of ${TIERS.join(', ')}`,
    )
  const declared = body['nj_per_token'] ?? njPerToken
  if (typeof declared !== 'string' || !/^[1-9]\d{0,14}$/.test(declared))
    throw fault(
      'invalid_request',
      'Could not add the model: nj_per_token is a whole number of nanojoules',
    )
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
  const name =
    typeof body['name'] === 'string'
      ? body['name']
      : otherwise.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-')
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

function integerOf(body: Body, name: string, least = 1): number | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value
  throw fault(
    'invalid_request',
    `Could not add the model: "${name}" is a whole number above ${least - 1}`,
  )
}

/** Downloads with resume and checks the hash; what is there and right is not fetched again. */
async function pulled(call: ControlCall, folder: string): Promise<string> {
  const url = textOf(call.body, 'pull')
  const what = basename(url)
  const progress = (doneBytes: number, totalBytes: number | undefined) =>
    call.progress({ progress: { what, done_bytes: doneBytes, total_bytes: totalBytes ?? null } })
  return await pullUrl({
    url,
    sha256: textOf(call.body, 'sha256'),
    folder,
    signal: call.signal,
    progress,
  })
}
