// The chains and tokens that accounts pay with: what the operator configured, and the amounts in the token's own units.
import { present } from '#base/errors.ts'
import { Secret } from '#base/log.ts'
import { pusd, type Pusd } from '#base/units.ts'
import type { StablecoinSetting } from '#config/stablecoins.ts'

type Env = 'live' | 'test'

type ChainFacts = {
  readonly env: Env
  /** The name of the network by CAIP-2. */
  readonly network: string
  readonly token: string
  readonly decimals: number
  /** The name in the token's EIP-712 domain. */
  readonly name: string
  readonly version: string
  readonly receiver: string
  readonly confirmations: number
}

/** A chain in the settings, with its secrets in the clear. */
export type ChainConfig = ChainFacts & {
  readonly nodes: readonly string[]
  readonly facilitator: { readonly url: string; readonly key: string | undefined } | undefined
}

export type TokenChain = ChainFacts & {
  readonly id: bigint
  /** Addresses of its nodes. */
  readonly nodes: readonly Secret[]
  readonly facilitator: Facilitator | undefined
}
export type Facilitator = { readonly url: Secret; readonly key: Secret | undefined }

const PUSD_DECIMALS = 12

export const processorOf = (env: Env): string => `stablecoin-${env}`

export function chainConfig(given: StablecoinSetting): ChainConfig {
  const { nodes, facilitator, facilitator_key: key, ...facts } = given
  return {
    ...facts,
    nodes: nodes.map((node) => node.reveal()),
    facilitator:
      facilitator === undefined ? undefined : { url: facilitator.reveal(), key: key?.reveal() },
  }
}

export const openChains = (configs: readonly ChainConfig[]): TokenChain[] =>
  configs.map(({ nodes, facilitator, ...facts }) => ({
    ...facts,
    id: BigInt(present(facts.network.split(':')[1], 'a checked network')),
    nodes: nodes.map((node) => new Secret(node)),
    facilitator: facilitator && {
      url: new Secret(facilitator.url),
      key: facilitator.key === undefined ? undefined : new Secret(facilitator.key),
    },
  }))

/** Cents are whole units of every token that can be configured. */
export const unitsOf = ({ decimals }: Pick<TokenChain, 'decimals'>, amount: Pusd): bigint =>
  amount / 10n ** BigInt(PUSD_DECIMALS - decimals)

/** Exact, with the units below a cent. */
export const pusdOfUnits = ({ decimals }: Pick<TokenChain, 'decimals'>, units: bigint): Pusd =>
  pusd(units * 10n ** BigInt(PUSD_DECIMALS - decimals))
