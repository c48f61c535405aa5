// The tokens that accounts may pay with, as one setting: a JSON list. A token is a contract on a chain of the EVM whose
// unit is one US dollar.
import { z } from 'zod'
import { Secret } from '#base/log.ts'
import { jsonList } from './json-list.ts'

/** Chains whose tokens are worth nothing: they pay into test accounts alone, and all other chains into live ones. */
const TEST_CHAINS: ReadonlySet<number> = new Set([
  31_337, // a chain of a developer's own (anvil, hardhat)
  80_002, // Polygon Amoy
  84_532, // Base Sepolia
  421_614, // Arbitrum Sepolia
  43_113, // Avalanche Fuji
  11_155_111, // Sepolia
  11_155_420, // OP Sepolia
])

const TOKENS_MAX = 8
const NODES_MAX = 5
/** With more, a pico-dollar would be several of the token's own units. */
const DECIMALS_MAX = 12

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address, 0x and 40 hexadecimal digits')
  .transform((text) => text.toLowerCase())
/** Addresses have keys in their paths: a secret. */
const serviceUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address', abort: true })
  .refine(isSafe, 'plain HTTP is for loopback only')
  .transform((text) => new Secret(text))

const token = z
  .strictObject({
    network: z
      .string()
      .regex(/^eip155:[1-9]\d{0,14}$/, 'must be a chain of the EVM by CAIP-2, such as eip155:8453'),
    token: address,
    decimals: z.int().min(2).max(DECIMALS_MAX),
    /** Name and version of the contract's EIP-712 domain: what payers sign. */
    name: z.string().min(1).max(100),
    version: z.string().min(1).max(20),
    receiver: address,
    nodes: z.array(serviceUrl).min(1).max(NODES_MAX),
    /** Blocks up to and with that of the transfer, from which on the money is balance. */
    confirmations: z.int().min(1).max(10_000),
    facilitator: serviceUrl.optional(),
    facilitator_key: z
      .string()
      .min(1)
      .transform((text) => new Secret(text))
      .optional(),
  })
  .transform((given) => ({ ...given, env: envOf(given.network) }))
export type StablecoinSetting = z.infer<typeof token>

export const stablecoins = jsonList
  .pipe(z.array(token).max(TOKENS_MAX))
  .refine((tokens) => new Set(tokens.map(({ network }) => network)).size === tokens.length, {
    message: 'names a chain twice',
  })

const envOf = (network: string): 'live' | 'test' =>
  TEST_CHAINS.has(Number(network.slice('eip155:'.length))) ? 'test' : 'live'

function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || /^(127(\.\d+){3}|\[::1\]|localhost)$/.test(hostname)
}
