// From tokens to text that may be shown: whole characters only, nothing of a stop string, and where a
// stop string might begin, nothing until it is decided.

const REPLACEMENT = '\ufffd'
/**
 * A UTF-8 character has at most 4 bytes, so 4 byte tokens, and U+FFFD itself, 3 of them, may be before it:
 * more is text that really is not UTF-8.
 */
const PARTIAL_TOKENS_MAX = 7

export type Detokenize<T> = (tokens: readonly T[], before: readonly T[]) => string

/** Text of a token stream, piece by piece; holds tokens back while they are part of a character. */
export function createDetokenizer<T>(detokenize: Detokenize<T>): {
  push(token: T): string
  end(): string
} {
  let pending: T[] = []
  let before: readonly T[] = []
  const flush = (text: string, rest: T[]) => {
    before = pending
    pending = rest
    return text
  }
  return {
    push(token) {
      pending.push(token)
      const text = detokenize(pending, before)
      if (!text.endsWith(REPLACEMENT)) return flush(text, [])
      if (pending.length < PARTIAL_TOKENS_MAX) return ''
      // The last one may begin a character all the same.
      pending.pop()
      return flush(detokenize(pending, before), [token])
    },
    end: () => (pending.length === 0 ? '' : flush(detokenize(pending, before), [])),
  }
}

export type StopGate = {
  /** Takes more text; returns what may be shown now, and whether a stop string ended the text. */
  push(piece: string): { readonly text: string; readonly stopped: boolean }
  /** The text held back, when the text ends without a stop string. */
  end(): string
}

/** Passes text up to the first of the stop strings. */
export function createStopGate(stops: readonly string[]): StopGate {
  let held = ''
  return {
    push(piece) {
      held += piece
      const cut = earliest(held, stops)
      if (cut >= 0) {
        const text = held.slice(0, cut)
        held = ''
        return { text, stopped: true }
      }
      const ready = held.length - startedStop(held, stops)
      const text = held.slice(0, ready)
      held = held.slice(ready)
      return { text, stopped: false }
    },
    end() {
      const text = held
      held = ''
      return text
    },
  }
}

function earliest(text: string, stops: readonly string[]): number {
  const found = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0)
  return found.length === 0 ? -1 : Math.min(...found)
}

/** The length of the longest end of `text` that a stop string begins with. */
function startedStop(text: string, stops: readonly string[]): number {
  let longest = 0
  for (const stop of stops)
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--)
      if (text.endsWith(stop.slice(0, length))) longest = length
  return longest
}
