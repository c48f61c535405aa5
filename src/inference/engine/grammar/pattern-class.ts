// Sets of characters as patterns write them: [a-z_], \d, \u00e9.
import { charSet, charsOf, otherChars, type CharRange, type CharSet } from './char-set.ts'

/** A set and where the text after it begins; or why there is none. */
export type Read = { readonly set: CharSet; readonly at: number } | { readonly fault: string }

const DIGITS: CharSet = [[0x30, 0x39]]
const WORD = charSet([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
])
const SPACE = charsOf(
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
)
const CLASSES: Record<string, CharSet> = {
  d: DIGITS,
  D: otherChars(DIGITS),
  w: WORD,
  W: otherChars(WORD),
  s: SPACE,
  S: otherChars(SPACE),
}
const CONTROLS: Record<string, string> = { t: '\t', n: '\n', v: '\v', f: '\f', r: '\r', '0': '\0' }

/** A class in brackets; `at` is behind the bracket that opens it. */
export function readClass(characters: readonly string[], at: number): Read {
  const isNegative = characters[at] === '^'
  const ranges: CharRange[] = []
  let place = isNegative ? at + 1 : at
  for (;;) {
    const low = readMember(characters, place)
    if (low === undefined) {
      const set = charSet(ranges)
      return { set: isNegative ? otherChars(set) : set, at: place + 1 }
    }
    if ('fault' in low) return low
    place = low.at
    const high = characters[place] === '-' ? readMember(characters, place + 1) : undefined
    if (high === undefined) {
      ranges.push(...low.set)
      continue
    }
    if ('fault' in high) return high
    place = high.at
    const [from, to] = [single(low.set), single(high.set)]
    // A hyphen beside \d or the like is a hyphen.
    if (from === undefined || to === undefined)
      ranges.push(...low.set, ...charsOf('-'), ...high.set)
    else if (from > to) return { fault: 'a range whose ends are the wrong way round' }
    else ranges.push([from, to])
  }
}

/** One character or escape of a class; undefined at its end. */
function readMember(characters: readonly string[], at: number): Read | undefined {
  const next = characters[at]
  if (next === undefined) return { fault: 'a bracket is not closed' }
  if (next === ']') return undefined
  if (next === '\\') return readEscape(characters, at + 1, true)
  return { set: charsOf(next), at: at + 1 }
}

function single(set: CharSet): number | undefined {
  const [range, ...others] = set
  return range !== undefined && others.length === 0 && range[0] === range[1] ? range[0] : undefined
}

/** An escape; `at` is behind the backslash. */
export function readEscape(characters: readonly string[], at: number, inClass: boolean): Read {
  const next = characters[at]
  if (next === undefined) return { fault: 'it ends in a backslash' }
  const known = CLASSES[next]
  if (known !== undefined) return { set: known, at: at + 1 }
  if (inClass && next === 'b') return { set: charsOf('\b'), at: at + 1 }
  const control = CONTROLS[next]
  if (control !== undefined) return { set: charsOf(control), at: at + 1 }
  const code = /^(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]{1,6})\})/.exec(
    characters.slice(at, at + 9).join(''),
  )
  if (code !== null) {
    const value = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16)
    if (value > 0x10_ffff || (value >= 0xd800 && value <= 0xdfff))
      return { fault: `\\${code[0]} is no character` }
    return { set: [[value, value]], at: at + code[0].length }
  }
  // A letter or digit means something that is not served: \b, \p{…}, \1, \k<…>.
  if (/[A-Za-z0-9]/.test(next)) return { fault: `\\${next} is not served` }
  return { set: charsOf(next), at: at + 1 }
}
