// Amounts of money as people write them.
import { printUsd, pusd, PUSD_PER_USD } from '#base/units.ts'
import { CommandError, EXIT } from './output.ts'

const AMOUNT = /^(\d{1,9})(?:\.(\d{1,12}))?$/

/** Whole pico-dollars as text, of a decimal above 0 such as 0.25. Throws a CommandError. */
export function pusdOf(amount: string): string {
  const [, whole = '0', fraction = ''] = AMOUNT.exec(amount) ?? []
  const amountPusd = BigInt(whole) * PUSD_PER_USD + BigInt(fraction.padEnd(12, '0'))
  if (amountPusd > 0n) return amountPusd.toString()
  throw new CommandError(
    `Not an amount in dollars above 0: "${amount}"`,
    EXIT.usage,
    'for example 5 or 0.25',
  )
}

/** The decimal of whole pico-dollars. */
export const dollars = (text: string): string => printUsd(pusd(BigInt(text)))
