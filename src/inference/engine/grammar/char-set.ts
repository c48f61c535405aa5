// Sets of characters as ranges of code points, ascending and apart.

export type CharRange = readonly [from: number, to: number]
export type CharSet = readonly CharRange[]

/** The characters of "any character": no control characters except those with a short escape in JSON. */
export const ANY_CHAR: CharSet = [
  [0x08, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x7e],
  [0xa0, 0xd7ff],
  [0xe000, 0xfffd],
  [0x1_0000, 0x10_ffff],
]

export const isAnyText = (value: string): boolean =>
  [...value].every((character) => {
    const code = character.codePointAt(0) ?? 0
    return ANY_CHAR.some(([from, to]) => from <= code && code <= to)
  })

/** Ranges in any order, which may overlap. */
export function charSet(ranges: readonly CharRange[]): CharSet {
  const joined: [number, number][] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

export const charsOf = (text: string): CharSet =>
  charSet(
    [...text].map((character): CharRange => {
      const code = character.codePointAt(0) ?? 0
      return [code, code]
    }),
  )

/** Every character of ANY_CHAR that is not in the set. */
export function otherChars(set: CharSet): CharSet {
  return ANY_CHAR.flatMap(([from, to]) => {
    const left: CharRange[] = []
    let at = from
    for (const [low, high] of set) {
      if (high < at || low > to) continue
      if (low > at) left.push([at, low - 1])
      at = high + 1
    }
    if (at <= to) left.push([at, to])
    return left
  })
}

/** The characters of both. */
export const commonChars = (one: CharSet, other: CharSet): CharSet =>
  one.flatMap(([from, to]) =>
    other
      .filter(([low, high]) => low <= to && high >= from)
      .map(([low, high]): CharRange => [Math.max(from, low), Math.min(to, high)]),
  )
