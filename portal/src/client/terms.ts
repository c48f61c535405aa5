// The terms of this service, which it writes into the page: its price and its free joules.
import { moneyShort } from '#console/figures/money.ts'
import { energyShort } from '#console/figures/energy.ts'

const NJ_PER_J = 1_000_000_000n

const written = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

/** 50 kJ; undefined where no joule is free, or a server of sources fills no places. */
export function freeDay(): string | undefined {
  const text = written('ergon-free')
  return text === '' || text.startsWith('{') ? undefined : text
}

/** The energy that so much money buys: 5 dollars are 72 MJ at the default price. */
export function energyFor(pusd: bigint): string | undefined {
  const price = written('ergon-price')
  return /^[1-9]\d*$/.test(price) ? round((pusd * NJ_PER_J) / BigInt(price)) : undefined
}

/** The price of energy: 24.9 n$. */
export function priceOf(nj: bigint): string | undefined {
  const price = written('ergon-price')
  return /^[1-9]\d*$/.test(price) ? moneyShort((nj * BigInt(price)) / NJ_PER_J) : undefined
}

/** Three digits, without zeros at the end: 72 MJ and not 72.0 MJ. */
const round = (nj: bigint): string =>
  energyShort(nj).replace(/\.\d*/, (digits) => digits.replace(/\.?0+$/, ''))
