// Where the first JSON object or array in a growing text ends. The grammar of the engine permits
// newlines without end after the value, and models emit them up to max_tokens.

export type JsonEnd = {
  /** Takes more text; returns how many of its characters belong to the value once that is complete. */
  push(piece: string): number | undefined
}

export function createJsonEnd(): JsonEnd {
  let depth = 0
  let inString = false
  let escaped = false
  return {
    push(piece) {
      for (let index = 0; index < piece.length; index++) {
        const character = piece[index]
        if (inString) {
          if (escaped) escaped = false
          else if (character === '\\') escaped = true
          else if (character === '"') inString = false
        } else if (character === '"') inString = true
        else if (character === '{' || character === '[') depth++
        else if ((character === '}' || character === ']') && --depth === 0) return index + 1
      }
      return undefined
    },
  }
}
