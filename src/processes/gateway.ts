// A gateway: the API door on TCP, with its own journal, and a small server on its unix socket for the
// agent. It needs the state to start; once warm it answers without waiting for it.
import {
  createReceiptCheckpoint,
  createReceiptGet,
  createReceiptKeys,
  createReceiptTile,
  type SignersLabel,
} from '#accounts/operations/receipt-pages.ts'
import { createReceiptList } from '#accounts/operations/receipt-list.ts'
import { createUsageGet } from '#accounts/operations/usage-get.ts'
import { createUsageLast } from '#accounts/operations/usage-last.ts'
import { createPosted } from '#accounts/posted.ts'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, Secret, type Level } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import {
  parseChatRequest,
  parseCompletionRequest,
  parseEmbeddingRequest,
} from '#contract/inference.ts'
import { parsePresignRequest } from '#contract/presign.ts'
import { createAccountLoad } from '#http/account-load.ts'
import { createApiDoor } from '#http/api-door.ts'
import { createHostRule } from '#http/host-rule.ts'
import { createIdempotency } from '#http/idempotency.ts'
import { createRequestCounts } from '#http/request-counts.ts'
import { listen } from '#http/server.ts'
import { createExposures } from '#identity/exposures.ts'
import { createPayers } from '#identity/payers.ts'
import { createIdentity, type Identity } from '#identity/tokens.ts'
import { createFailures } from '#inference/failures.ts'
import { createChatCreate } from '#inference/operations/chat-create.ts'
import { createCompletionCreate } from '#inference/operations/completion-create.ts'
import { createEmbeddingCreate } from '#inference/operations/embedding-create.ts'
import { createModelGet } from '#inference/operations/model-get.ts'
import { createModelList } from '#inference/operations/model-list.ts'
import { CONNECTIONS_MAX } from '#inference/providers/upstream.ts'
import { createShares } from '#inference/shares.ts'
import { createWholeRule } from '#inference/whole.ts'
import { followModels } from '#inference/models/follow-models.ts'
import { diskPages } from '#node/disk-full.ts'
import { MODELS_PAGE } from '#inference/models/confirm.ts'
import { keepLearned } from '#inference/models/learned-costs.ts'
import { tuneForRequests } from '#node/program-flags.ts'
import { createReceipts } from '#receipts/prove.ts'
import { createSignerStore } from '#receipts/signer-store.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { openBlobStores, type BlobSettings } from '#blobs/stores.ts'
import { followKeyVersions } from '#objects/encryption/key-versions.ts'
import { createStorageDoors } from '#s3/create-s3.ts'
import { createPresignCreate } from '#s3/authentication/presign-create.ts'
import { createDerivedKeys } from '#s3/authentication/derived-keys.ts'
import type { StorageSettings } from '#s3/settings.ts'
import { connectState, type StateAddress } from '#state/connect.ts'
import { createHealth, createMetrics, createReady } from '#statuspage/operations/service.ts'
import { openAccounting } from '#node/accounting.ts'
import { booksFigures } from '#statuspage/metrics/books-figures.ts'
import { createGatewayMetrics, METRICS_PAGE } from '#statuspage/metrics/gateway-metrics.ts'
import { serveInside } from '#node/inside.ts'
import { powerFigures } from '#statuspage/metrics/power-figures.ts'
import { BILLED_PAGE, billedPage } from '#node/meter/gateway-bills.ts'

export type GatewayConfig = {
  readonly name: string
  /** The other gateways of this node, whose metrics any gateway prints. */
  readonly others: readonly { readonly name: string; readonly socket: string }[]
  readonly state: StateAddress
  readonly journalFolder: string
  readonly journalSync: boolean
  readonly meter: string
  readonly signers: SignersLabel
  readonly listen: { readonly host: string; readonly port: number; readonly shared: boolean }
  readonly hosts: readonly string[]
  /** The public address, where a proxy is in front. */
  readonly baseUrl?: string
  /** How long running requests may go on when it stops. */
  readonly drainMs: number
  readonly bodyMemoryBytes: number
  readonly accountRequests: number
  readonly socket: string
  readonly logLevel: Level
  readonly metricsToken?: string
  readonly storage: StorageSettings
  readonly blobs: BlobSettings
  /** Decrypts what the state keeps of secrets. */
  readonly stateKey: string
}

// Each to its own, so that slow questions of callers keep nobody waiting: without a tick for two seconds
// the gateway may serve no one, without look-ups no one new.
const LEDGER_CONNECTIONS = 2
const LOOK_UP_CONNECTIONS = 4
const READER_CONNECTIONS = 4
// A put of 4 KiB waits 2 to 4 ms for its commit to be on disk; commits of several connections share that.
const STORAGE_CONNECTIONS = 16
const EXIT_LOST = 74
const FIRST_TICK_MS_MAX = 30_000
/** Of its stop: how long access logs may take to be written after the last request, at least. */
const LOGS_MS_LEAST = 1000

const config = await readConfig<GatewayConfig>()
const log = createLogger(config.name, { level: config.logLevel })
endOnFault(log)
const connect = (connections: number, further: { prepares?: boolean } = {}) =>
  connectState({ address: config.state, connections, log, ...further })
const ledgerState = connect(LEDGER_CONNECTIONS, { prepares: true })
const state = connect(LOOK_UP_CONNECTIONS)
const readerState = connect(READER_CONNECTIONS)
const storageState = connect(STORAGE_CONNECTIONS, { prepares: true })
const accounting = await openAccounting({
  process: config.name,
  meter: config.meter,
  journalFolder: config.journalFolder,
  journalSync: config.journalSync,
  state: ledgerState,
  log,
  forget: (changes) => identity.forget(changes),
  failed(error) {
    log.error('The journal or the session is lost; this gateway ends', { error })
    process.exit(EXIT_LOST)
  },
})
const { session, charging } = accounting
const identity: Identity = createIdentity({ state, session, clock: systemClock })
const models = await followModels({
  state,
  log,
  clock: systemClock,
  key: new Secret(config.stateKey),
})
const counts = createRequestCounts()
const metrics = createGatewayMetrics({
  name: config.name,
  others: config.others,
  accounting,
  counts,
  books: () => booksFigures(readerState),
  power: () => powerFigures(readerState, config.meter),
  logLinesLost: () => accessLog.lost,
  damagedReads: () => damages.met(),
})
const costs = await keepLearned({ state: readerState, log, process: config.name })
const inference = {
  ...models,
  learned: costs.learned,
  shares: createShares(CONNECTIONS_MAX),
  whole: createWholeRule(),
  clock: systemClock,
  failures: createFailures({
    log,
    clock: systemClock,
    providers: models.providers,
    servers: models.servers,
  }),
}
const { ready: signersReady } = createSignerStore(readerState)
const receipts = createReceipts({ store: createSqlReceiptStore(readerState) })
const posted = createPosted({ state: readerState, post: (signal) => session.tickNow(signal) })

const accessKeys = createDerivedKeys(new Secret(config.stateKey))
const blobs = await openBlobStores(config.blobs, { log, clock: systemClock })
let isDiskFull = false
const door = createApiDoor({
  identity,
  baseUrl: config.baseUrl,
  endpoints: {
    'chat.create': { parse: parseChatRequest, handle: createChatCreate(inference) },
    'completion.create': {
      parse: parseCompletionRequest,
      handle: createCompletionCreate(inference),
    },
    'embedding.create': { parse: parseEmbeddingRequest, handle: createEmbeddingCreate(inference) },
    'model.list': { handle: createModelList(inference) },
    'model.get': { handle: createModelGet(inference) },
    'presign.create': {
      parse: parsePresignRequest,
      handle: createPresignCreate({
        keys: accessKeys,
        clock: systemClock,
        region: config.storage.region,
        baseUrl: config.baseUrl,
      }),
    },
    'usage.last': { handle: createUsageLast({ state: readerState, posted }) },
    'usage.get': {
      handle: createUsageGet({ state: readerState, posted, now: systemClock.wallMs }),
    },
    'receipt.list': { handle: createReceiptList({ state: readerState, posted }) },
    'receipt.get': { handle: createReceiptGet({ receipts, posted, clock: systemClock }) },
    'receipt.keys': { handle: createReceiptKeys(receipts, config.signers, signersReady) },
    'receipt.checkpoint': { handle: createReceiptCheckpoint(receipts) },
    'receipt.tile': { handle: createReceiptTile(receipts) },
    'service.health': { handle: createHealth() },
    'service.ready': {
      handle: createReady({
        fresh: () => session.fresh,
        isDiskFull: () => isDiskFull,
        fenced: blobs.local.fenced,
      }),
    },
    'service.metrics': {
      handle: createMetrics({
        token: config.metricsToken === undefined ? undefined : new Secret(config.metricsToken),
        print: metrics.print,
      }),
    },
  },
})

const payers = createPayers({ state, clock: systemClock })
const keyVersions = await followKeyVersions({ state: readerState, log })
const { accessLog, damages, ...doors } = createStorageDoors({
  state: storageState,
  blobs,
  identity,
  payerOf: payers.payerOf,
  secret: new Secret(config.stateKey),
  keys: accessKeys,
  keyVersionOf: keyVersions.versionOf,
  directory: { exists: payers.exists, accountOfEmail: async () => undefined },
  clock: systemClock,
  log,
  marks: accounting.marks,
  charging,
  hosts: config.hosts,
  settings: config.storage,
})

// Nothing is answered before the first tick: price, tariff and epoch come with it.
await session.tickNow(AbortSignal.timeout(FIRST_TICK_MS_MAX))
const server = await listen({
  charging,
  doorOf: createHostRule({
    door,
    ...doors,
    hosts: config.hosts,
    websiteHosts: config.storage.website.hosts,
    baseUrl: config.baseUrl,
  }),
  fallback: door,
  idempotency: createIdempotency({ state, session, clock: systemClock, log }),
  accounts: createAccountLoad(config.accountRequests),
  counts,
  exposures: createExposures({ state, identity, clock: systemClock, log }),
  log,
  bodyMemoryBytes: config.bodyMemoryBytes,
  ...config.listen,
})
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: session.fresh }),
  [BILLED_PAGE]: () => billedPage(session.id, charging),
  [METRICS_PAGE]: metrics.json,
  ...diskPages((isFull) => (isDiskFull = isFull)),
  [MODELS_PAGE]: async () => {
    await models.refreshed()
    return { models: models.catalogue.models().length }
  },
})
tuneForRequests()
log.info('Gateway answers', { port: server.port, session: session.id })

let stopping = false
async function stop(reason: string): Promise<void> {
  if (stopping) return
  stopping = true
  log.info('Gateway stops', { reason })
  const begunMs = performance.now()
  await server.drain(config.drainMs)
  // What running requests left of their time.
  const leftMs = Math.max(0, Math.floor(config.drainMs - (performance.now() - begunMs)))
  await accessLog.close(AbortSignal.timeout(LOGS_MS_LEAST + leftMs))
  await inside.close()
  await costs.close()
  await accounting.close()
  await models.close()
  keyVersions.close()
  for (const pool of [ledgerState, state, readerState, storageState])
    await pool[Symbol.asyncDispose]()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    stop(signal).catch((error: unknown) => {
      // What could not be posted is in the journal, for the next life.
      log.error('The gateway could not stop in order', { error })
      process.exit(1)
    })
  })
// Without the agent there is no state either: what is journaled waits for the next life.
onParentGone(() => process.exit(0))
