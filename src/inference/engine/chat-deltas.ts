// The events of a choice as OpenAI's deltas: text, tool calls, logprobs, the reason of the end.
import { newIdBody } from '#base/ids.ts'
import type { ChoiceEvent, TokenLogprob } from './choice.ts'
import type { CellChatRequest } from './read-chat.ts'
import {
  createCallReader,
  createForcedCallReader,
  textReader,
  type ToolCallPart,
  type PartReader,
} from './tool-calls.ts'

type CellChoice = {
  readonly delta: object
  readonly logprobs: object | null
  readonly finish_reason: 'stop' | 'length' | 'tool_calls' | null
}

/** Writes the events of one choice as deltas; the first has the role, as SDKs require. */
export function createChoiceWriter(request: CellChatRequest) {
  const reader = readerOf(request)
  let calls = 0
  let started = false
  /** Of tokens whose text is held back, as a tool call that is not complete. */
  let logprobs: TokenLogprob[] = []
  const takeLogprobs = () => logprobsOf(logprobs.splice(0))
  const delta = (fields: object): object => {
    const first = started ? {} : { role: 'assistant' }
    started = true
    return { ...first, ...fields }
  }
  const fieldOf = (part: ToolCallPart): object => {
    switch (part.kind) {
      case 'text':
        return { content: part.text }
      case 'call': {
        const called = { name: part.name, arguments: '' }
        const id = `call_${newIdBody(Date.now())}`
        return { tool_calls: [{ index: calls++, id, type: 'function', function: called }] }
      }
      case 'arguments':
        return { tool_calls: [{ index: calls - 1, function: { arguments: part.text } }] }
    }
  }
  return {
    write(event: Exclude<ChoiceEvent, { kind: 'prefill' }>): CellChoice[] {
      logprobs = [...logprobs, ...event.logprobs]
      const parts = reader.push(event.text)
      if (event.kind === 'end') parts.push(...reader.end())
      const written: CellChoice[] = parts.map((part) => ({
        delta: delta(fieldOf(part)),
        logprobs: takeLogprobs(),
        finish_reason: null,
      }))
      if (event.kind === 'end') {
        const reason = calls > 0 && event.reason === 'stop' ? 'tool_calls' : event.reason
        const rest = started ? {} : { content: '' }
        written.push({ delta: delta(rest), logprobs: takeLogprobs(), finish_reason: reason })
      }
      return written
    },
  }
}

function readerOf({ tools }: CellChatRequest): PartReader {
  if (tools === undefined) return textReader
  return tools.isForced ? createForcedCallReader() : createCallReader()
}

function logprobsOf(entries: readonly TokenLogprob[]): object | null {
  if (entries.length === 0) return null
  const entryOf = (entry: { token: string; logprob: number }) => ({
    token: entry.token,
    logprob: entry.logprob,
    bytes: bytesOf(entry.token),
  })
  const content = entries.map((entry) => ({
    ...entryOf(entry),
    top_logprobs: entry.top.map(entryOf),
  }))
  return { content, refusal: null }
}

/** The engine gives text only: of half a character there are no bytes to tell. */
const bytesOf = (token: string): number[] | null =>
  token.includes('\ufffd') ? null : [...Buffer.from(token, 'utf8')]
