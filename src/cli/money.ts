// Amounts of money as people write them.
import { printUsd, pusd, PUSD_PER_USD } from '#base/units.ts'
import { CommandError, EXIT } from './output.ts'

const AMOUNT = /^(\d{1,9})(?:\.(\d{1,12}))?$/

/** Whole pico-dollars as text, of a decimal such as 0.25. Throws a CommandError. */
export function pusdOf(amount: string): string {
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined)
    throw new CommandError(`Not an amount: "${amount}"`, EXIT.usage, 'for example 5 or 0.25')
  return (BigInt(whole) * PUSD_PER_USD + BigInt(fraction.padEnd(12, '0'))).toString()
}

/** The decimal of whole pico-dollars. */
export const dollars = (text: string): string => printUsd(pusd(BigInt(text)))
