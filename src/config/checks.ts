// Checks that several settings share. Their messages follow the setting's name.
import { z } from 'zod'
import { Secret } from '#base/log.ts'
import { parseSubnet } from '#base/subnets.ts'

export const count = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.coerce.number(error).int(error).min(least, error).max(most, error)
}
export const port = count(1, 65_531)
export const oneOfWords = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, `must be ${words.join(', ').replace(/, (?=[^,]*$)/, ' or ')}`)
export const onOff = z.stringbool('must be on or off')
export const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(BigInt)
/** Addresses and networks by comma, or `none`. */
export const networks = z
  .string()
  .transform((text) => (text === 'none' ? [] : text.split(',').map((network) => network.trim())))
  .refine(
    (texts) => texts.every((text) => parseSubnet(text) !== undefined),
    'must be addresses and networks by comma, such as 127.0.0.1,10.0.0.0/8',
  )
/** A part of X-Routed-To. */
export const WORD = /^[a-z0-9][a-z0-9._-]{0,62}$/i
export const WORD_IN_WORDS = 'letters, digits, dots and dashes'
export const word = z.string().regex(WORD, `must be ${WORD_IN_WORDS}`)

export const secret = z.string().transform((text) => new Secret(text))
