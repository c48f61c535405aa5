// The catalogue of a gateway: the table `models`, read again when the agent says that it changed.
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '#base/clock.ts'
import { decrypt } from '#base/encryption.ts'
import { messageOf } from '#base/errors.ts'
import type { Secret, Logger } from '#base/log.ts'
import { nj } from '#base/units.ts'
import { createCatalogue, type Catalogue, type ModelOffer } from '#inference/catalogue.ts'
import type { UpstreamServer } from '#inference/providers/ask-server.ts'
import type { ProviderConfig, Providers, Timeouts } from '#inference/providers/provider.ts'
import { createProviders } from '#inference/providers/providers.ts'
import { watchServers, type ServerStates } from '#inference/providers/server-states.ts'
import { yearlyFactor } from '#metering/carbon.ts'
import type { State } from '#state/connect.ts'
import { readAliases } from './aliases.ts'

/** The way to a model, as the table keeps it. */
export type StoredProvider = { readonly name: string } & (
  | { readonly socket: string }
  | {
      readonly base_url: string
      readonly band_pct: number
      /** Where it draws its power, where the operator says so. */
      readonly carbon_zone?: string
      /** For `base_url` alone; see base/encryption.ts. */
      readonly api_key_encrypted?: string
      /** Its longest silence, where that is not the default. */
      readonly timeouts?: Partial<Timeouts>
    }
)
export type StoredOffer = Omit<
  ModelOffer,
  'state' | 'reason' | 'retryAfterS' | 'isCell' | 'njPerPromptToken' | 'njPerCompletionToken'
> & { readonly njPerPromptToken: string; readonly njPerCompletionToken: string }
type Row = {
  offer: StoredOffer
  provider: StoredProvider
  state: ModelOffer['state']
  reason: string | null
}

type Configured = {
  readonly stored: StoredProvider
  readonly upstreamId: string
  readonly config: ProviderConfig
  readonly server?: UpstreamServer
}

const LOADING_RETRY_S = 2
// The next poll makes up for a lost notification.
const REFRESH_MS = 5000

type Deps = {
  readonly state: State
  readonly log: Logger
  readonly clock: Clock
  /** Decrypts keys of upstreams. */
  readonly key: Secret
}

export interface Models {
  readonly catalogue: Catalogue
  readonly providers: Providers
  /** Which servers cannot serve, and why. */
  readonly servers: Pick<ServerStates, 'faultOf'>
  /**
   * Resolves when a reading that began after this call is in force, and new servers were asked; rejects when it
   * could not be made.
   */
  refreshed(): Promise<void>
  close(): Promise<void>
}

export async function followModels(deps: Deps): Promise<Models> {
  const { state, log } = deps
  const catalogue = createCatalogue()
  const providers = createProviders(deps)
  const servers = watchServers({ providers, log })
  let configs = new Map<string, Configured>()

  async function refresh(): Promise<void> {
    const { rows } = await state.query<Row>(
      "select offer, provider, state, reason from models where state <> 'removed' order by position, id",
    )
    configs = new Map(rows.map((row) => [row.provider.name, configured(row)]))
    providers.replace([...configs.values()].map(({ config }) => config))
    catalogue.replace(rows.map(toOffer), await readAliases(state))
    servers.replace(serversOf(configs))
  }

  /** Read once: a key that cannot be deciphered is logged once, not at each poll. */
  function configured({ provider: stored, offer: { upstreamId, modalities } }: Row): Configured {
    const known = configs.get(stored.name)
    const isSame = isDeepStrictEqual(known?.stored, stored) && known?.upstreamId === upstreamId
    if (known !== undefined && isSame) return known
    const config = configOf(stored, deps)
    const asked = { model: upstreamId, isEmbedding: modalities.includes('embedding') }
    return { stored, upstreamId, config, ...serverOf(config, asked) }
  }

  // One read at a time: of two answers the older may come last, and would stand until the next poll.
  let reading: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined
  function refreshed(): Promise<void> {
    queued ??= reading
      .catch(() => undefined)
      .then(() => {
        queued = undefined
        reading = refresh()
        return reading
      })
    return queued
  }
  const look = () =>
    void refreshed().catch((error: unknown) =>
      log.warn('The models could not be read', { error: messageOf(error) }),
    )

  // Listening comes first, or a change in between would be missed.
  const listening = await state.listen('ergon_models', look)
  await refresh()
  const timer = setInterval(look, REFRESH_MS)
  return {
    catalogue,
    providers,
    servers,
    async refreshed() {
      await refreshed()
      await servers.asked()
    },
    async close() {
      clearInterval(timer)
      await servers.close()
      await listening[Symbol.asyncDispose]()
      await providers.close()
    },
  }
}

const toOffer = (row: Row): ModelOffer => ({
  ...row.offer,
  isCell: 'socket' in row.provider,
  njPerPromptToken: nj(BigInt(row.offer.njPerPromptToken)),
  njPerCompletionToken: nj(BigInt(row.offer.njPerCompletionToken)),
  state: row.state,
  ...(row.state === 'loading' ? { retryAfterS: LOADING_RETRY_S } : {}),
  ...(row.reason === null ? {} : { reason: row.reason }),
})

/** Kept with its config: by it a server is known to be the same. */
const serverOf = (
  { at, apiKey }: ProviderConfig,
  asked: Pick<UpstreamServer, 'model' | 'isEmbedding'>,
): { server?: UpstreamServer } =>
  at.kind === 'cell'
    ? {}
    : { server: { baseUrl: at.baseUrl, ...asked, ...(apiKey === undefined ? {} : { apiKey }) } }

const serversOf = (configs: ReadonlyMap<string, Configured>): ReadonlyMap<string, UpstreamServer> =>
  new Map(
    [...configs].flatMap(([name, { server }]): [string, UpstreamServer][] =>
      server === undefined ? [] : [[name, server]],
    ),
  )

const configOf = (stored: StoredProvider, deps: Deps): ProviderConfig =>
  'socket' in stored
    ? { name: stored.name, at: { kind: 'cell', socketPath: stored.socket } }
    : {
        name: stored.name,
        at: {
          kind: 'upstream',
          baseUrl: stored.base_url,
          bandPct: stored.band_pct,
          // Our own zone and its source say nothing of where a server of somebody else's is.
          factor: yearlyFactor(stored.carbon_zone),
        },
        ...apiKeyOf(stored, deps),
        ...(stored.timeouts === undefined ? {} : { timeouts: stored.timeouts }),
      }

/** Without a readable key the upstream is still asked, and its refusal says the reason. */
function apiKeyOf(
  { name, base_url, api_key_encrypted: text }: Extract<StoredProvider, { base_url: string }>,
  { key, log }: Deps,
): { apiKey?: Secret } {
  if (text === undefined) return {}
  try {
    return { apiKey: decrypt(text, key, base_url) }
  } catch (error) {
    log.error('The key of an upstream cannot be read: add the model again', {
      provider: name,
      error: messageOf(error),
    })
    return {}
  }
}
