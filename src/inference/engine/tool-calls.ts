// Reads tool calls out of generated text: the call that a grammar forced, or the <tool_call> blocks that a model
// chose to write. An invalid call stays text: nothing is made up and nothing is lost.
import { createJsonEnd } from './json-end.ts'

export const CALL_OPEN = '<tool_call>'
export const CALL_CLOSE = '</tool_call>'

export type ToolCallPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string }
  /** More of the arguments of the call before. */
  | { readonly kind: 'arguments'; readonly text: string }

export type PartReader = {
  push(piece: string): ToolCallPart[]
  end(): ToolCallPart[]
}

/** Text as it is. */
export const textReader: PartReader = {
  push: (text) => (text === '' ? [] : [{ kind: 'text', text }]),
  end: () => [],
}

const HEAD = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*(?=[{[])/

/** The whole text is one call, as its grammar made it: arguments are passed on as they come. */
export function createForcedCallReader(): PartReader {
  let head = ''
  let streaming = false
  let complete = false
  const end = createJsonEnd()
  const argumentsOf = (piece: string): ToolCallPart[] => {
    if (complete || piece === '') return []
    const length = end.push(piece)
    complete = length !== undefined
    return [{ kind: 'arguments', text: piece.slice(0, length) }]
  }
  return {
    push(piece) {
      if (streaming) return argumentsOf(piece)
      head += piece
      const found = HEAD.exec(head)
      if (found?.[1] === undefined) return []
      streaming = true
      return [
        { kind: 'call', name: JSON.parse(found[1]) as string },
        ...argumentsOf(head.slice(found[0].length)),
      ]
    },
    end: () => (streaming || head === '' ? [] : [{ kind: 'text', text: head }]),
  }
}

/** Text with <tool_call> blocks in it; a block is passed on when it is complete and is a valid call. */
export function createCallReader(): PartReader {
  let held = ''
  let inCall = false
  let called = false
  const step = (): ToolCallPart[] | undefined => {
    const mark = inCall ? CALL_CLOSE : CALL_OPEN
    const at = held.indexOf(mark)
    if (at < 0) return undefined
    const before = held.slice(0, at)
    held = held.slice(at + mark.length)
    inCall = !inCall
    called = true
    // White space around calls is layout, not an answer.
    return inCall ? textReader.push(before.trimEnd()) : callOf(before, CALL_CLOSE)
  }
  return {
    push(piece) {
      held += piece
      const parts: ToolCallPart[] = []
      for (let found = step(); found !== undefined; found = step()) parts.push(...found)
      if (inCall) return parts
      const ready = held.slice(0, held.length - startedOpen(held)).trimEnd().length
      parts.push(...textReader.push(held.slice(0, ready)))
      held = held.slice(ready)
      return parts
    },
    end() {
      const rest = held
      held = ''
      // A model that ends its turn right after the JSON meant the call.
      if (inCall) return callOf(rest, '')
      return textReader.push(called ? rest.trimEnd() : rest)
    },
  }
}

function callOf(body: string, close: string): ToolCallPart[] {
  try {
    const call = JSON.parse(body) as { name?: unknown; arguments?: unknown; parameters?: unknown }
    const given = call.arguments ?? call.parameters ?? {}
    if (typeof call.name === 'string' && typeof given === 'object')
      return [
        { kind: 'call', name: call.name },
        { kind: 'arguments', text: JSON.stringify(given) },
      ]
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return [{ kind: 'text', text: `${CALL_OPEN}${body}${close}` }]
}

function startedOpen(value: string): number {
  for (let length = CALL_OPEN.length - 1; length > 0; length--)
    if (value.endsWith(CALL_OPEN.slice(0, length))) return length
  return 0
}
