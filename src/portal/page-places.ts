// The texts that the service writes into the pages of the console: the addresses of its API and its status page, and its
// terms.
import type { SignUpRule } from './settings.ts'

export type Terms = {
  /** The address of the API. */
  readonly baseUrl: string
  readonly statusUrl: string
  readonly signUp: SignUpRule
  /** The price in pico-dollars a joule, and the free joules of a day, as decimals. */
  readonly pusdPerJ: string
  readonly freeJ: string
}

/** Texts by the names of their places: `{base_url}` in a page is the value of base_url. */
export type Places = Readonly<Record<string, string>>

const MJ = 1_000_000n
const PART_PUSD = 100_000_000n

const UNITS = [
  ['GJ', 1_000_000_000n],
  ['MJ', 1_000_000n],
  ['kJ', 1000n],
] as const

export function placesOf({ baseUrl, statusUrl, signUp, pusdPerJ, freeJ }: Terms): Places {
  const free = BigInt(freeJ) === 0n ? '' : joules(BigInt(freeJ))
  return {
    base_url: baseUrl,
    status_url: statusUrl,
    sign_up: signUp,
    pusd_per_j: pusdPerJ,
    free_day: free,
    invited_head:
      signUp === 'closed' ? 'This Ergon takes nobody new' : 'This Ergon is by invitation',
    invited_words:
      signUp === 'closed'
        ? 'Nobody joins by a link either. Members sign in, also on a further device.'
        : 'Open the link that you were sent: it makes your passkey. There is no password.',
    price_words: `A megajoule costs ${dollars(BigInt(pusdPerJ) * MJ)}.`,
    funds_words:
      free === ''
        ? '$5 on file is only taken as you use it.'
        : `${free} a day are free. With $5 on file each joule is paid, and there is no limit of a day.`,
  }
}

/** Writes pico-dollars as dollars, rounded up to a hundredth of a cent: 69444000000n is $0.0695. */
function dollars(pusd: bigint): string {
  const parts = (pusd + PART_PUSD - 1n) / PART_PUSD
  const digits = parts.toString().padStart(5, '0')
  return `$${digits.slice(0, -4)}.${digits.slice(-4)}`
}

/** In the largest unit that leaves a whole number: 50000n is 50 kJ. */
function joules(value: bigint): string {
  const [unit, size] = UNITS.find(([, one]) => value % one === 0n) ?? ['J', 1n]
  return `${value / size}\u{a0}${unit}`
}
