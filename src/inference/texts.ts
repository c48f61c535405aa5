// The four forms of `prompt` and `input`: a string, token ids, or an array of either.

export type InputText = string | readonly number[]

/** The texts of a request, in order. A bare array of numbers is one text of token ids. */
export function textsOf(input: InputText | readonly InputText[]): readonly InputText[] {
  if (typeof input === 'string') return [input]
  return isTokenIds(input) ? [input] : input
}

const isTokenIds = (input: readonly unknown[]): input is readonly number[] =>
  typeof input[0] === 'number'

/** UTF-8 bytes; a token id counts as the eight bytes of the longest usual token. */
export const textBytes = (texts: readonly InputText[]): number =>
  texts.reduce(
    (sum, text) =>
      sum + (typeof text === 'string' ? Buffer.byteLength(text) : text.length * BYTES_PER_ID),
    0,
  )

const BYTES_PER_ID = 8
