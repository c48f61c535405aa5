// A text of JSON as its shape and its values. The shape is the common text of charges of one kind: keys, brackets and
// quotes. Shape and values give the text back by construction, whatever the text is.

export type TextShape = {
  /** The texts around the values: one more than there are names. */
  readonly pieces: readonly string[]
  /** The key of each value; of a key that comes again, with its number: `energy_nj`, `energy_nj.1`. */
  readonly names: readonly string[]
}

// A string with the colon that makes a key of it, or another scalar.
const SCALAR = /"((?:[^"\\]|\\.)*)"(:?)|-?\d[\d.eE+-]*|true|false|null/g

/** The shape of a text, and its values in their order. */
export function shapeOf(text: string): TextShape & { readonly values: readonly string[] } {
  const pieces: string[] = []
  const names: string[] = []
  const values: string[] = []
  const seen = new Map<string, number>()
  let key = ''
  let end = 0
  for (const found of text.matchAll(SCALAR)) {
    const [token, inner, colon] = found
    if (colon === ':') {
      key = inner ?? ''
      continue
    }
    const quote = inner === undefined ? 0 : 1
    const times = seen.get(key) ?? 0
    seen.set(key, times + 1)
    pieces.push(text.slice(end, found.index + quote))
    names.push(times === 0 ? key : `${key}.${times}`)
    values.push(inner ?? token)
    end = found.index + token.length - quote
  }
  pieces.push(text.slice(end))
  return { pieces, names, values }
}

/** The text of a shape with values. */
export function fillShape(
  { pieces, names }: TextShape,
  valueOf: (name: string) => string | undefined,
): string {
  let text = pieces[0] ?? ''
  for (const [nth, name] of names.entries()) text += (valueOf(name) ?? '') + (pieces[nth + 1] ?? '')
  return text
}
