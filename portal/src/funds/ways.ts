// The ways to pay that this service has, the first of them for most people first.
import type { ReplyOf } from '#console/client/operations.ts'

export type Way = 'card' | 'stablecoin' | 'voucher'
export type WayChoice = readonly [way: Way, title: string, help: string]

type Methods = Pick<ReplyOf<'GET /v1/payment-methods'>, 'takes_cards' | 'takes_stablecoins'>

const STABLECOIN: WayChoice = ['stablecoin', 'Stablecoin', 'A transfer from your wallet']
const VOUCHER: WayChoice = ['voucher', 'Voucher or points', 'A code such as 2kdq-8w3v-…']

/** A card only where there is a processor of cards; a voucher everywhere. */
export const waysOf = (methods: Methods, card: WayChoice): readonly WayChoice[] => {
  const coins = methods.takes_stablecoins ? [STABLECOIN] : []
  return methods.takes_cards ? [card, ...coins, VOUCHER] : [...coins, VOUCHER]
}
