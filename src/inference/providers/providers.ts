// The providers of the moment: one per config, kept while its config stays the same, so that breakers
// and connections outlive a refresh of the catalogue.
import { isDeepStrictEqual } from 'node:util'
import { createOpenaiProvider } from './openai/openai-provider.ts'
import type { Provider, ProviderConfig, Providers } from './provider.ts'
import type { UpstreamDeps } from './openai/upstream.ts'

export type ProviderSet = Providers & {
  /**
   * Replaces the set by one provider for each config; names are unique. A provider without a config gets no new calls,
   * and is closed when its calls have ended, at the latest after the limit of a request.
   */
  replace(configs: readonly ProviderConfig[]): void
  /** Closes all at once, whatever they do. */
  close(): Promise<void>
}

// As long as a request may take: no call of a replaced provider outlives it.
const LEAVING_MS_MAX = 600_000

export function createProviders(deps: UpstreamDeps): ProviderSet {
  let current = new Map<string, { config: ProviderConfig; provider: Provider }>()
  const leaving = new Set<Provider>()

  const leave = (provider: Provider) => {
    leaving.add(provider)
    provider.close(LEAVING_MS_MAX).then(
      () => leaving.delete(provider),
      (error: unknown) =>
        deps.log.error('A provider could not be closed', { provider: provider.name, error }),
    )
  }

  return {
    get: (name) => current.get(name)?.provider,
    replace(configs) {
      const before = current
      current = new Map(
        configs.map((config) => {
          const kept = before.get(config.name)
          const isSame = kept !== undefined && isDeepStrictEqual(plain(kept.config), plain(config))
          return [
            config.name,
            isSame ? kept : { config, provider: createOpenaiProvider(config, deps) },
          ]
        }),
      )
      for (const old of before.values())
        if (current.get(old.config.name) !== old) leave(old.provider)
    },
    async close() {
      const all = [...leaving, ...[...current.values()].map(({ provider }) => provider)]
      current = new Map()
      await Promise.all(all.map((provider) => provider.close()))
    },
  }
}

/** Secrets are compared by their content. */
const plain = ({ apiKey, ...rest }: ProviderConfig) => ({ ...rest, key: apiKey?.reveal() })
